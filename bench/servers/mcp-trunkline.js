/* node mcp-trunkline.js [plain]: an MCP server on stdio, its tool with a Zod or a plain JSON Schema. */
import { trunklineServer } from '../mcp/definition-ours.js'
import { ours } from '../ours.js'

const { serve } = await ours('index')
await serve(await trunklineServer(process.argv[2]), { argv: [], env: {} })
