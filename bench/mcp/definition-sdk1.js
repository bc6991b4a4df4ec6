import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { info, withTools } from './tool.js'

export const sdk1Server = () => withTools(new McpServer(info))
