import { McpServer } from '@modelcontextprotocol/server'
import { info, withTools } from './tool.js'

export const sdk2Server = () => withTools(new McpServer(info))
