import { serve } from './stdio.js'

serve()
