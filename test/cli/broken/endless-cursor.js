// Always returns a next page.

import { serve, tool } from './stdio.js'

serve({ answers: { 'tools/list': () => ({ result: { tools: [tool], nextCursor: 'more' } }) } })
