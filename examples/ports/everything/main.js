// @ts-check
// The server @modelcontextprotocol/server-everything with Trunkline.

import { serve } from 'trunkline'
import { server } from './server.js'
import './resources.js'
import './tools.js'
import './client-tools.js'
import './task-tools.js'
import './prompts.js'

await serve(server)
