import { fetchHandler } from '../../src/http/index.ts'
import { Server } from '../../src/index.ts'
import { authorizationServer } from './authorization-server.ts'

/** Starts an MCP server with one tool that accepts only the tokens of its own authorization server. */
export async function protectedServer() {
  const as = await authorizationServer()
  const server = new Server({ name: 'protected', version: '1.0.0' })
  server.tool('whoami', { description: 'Names the token' }, (_, ctx) => {
    const { authorization = 'nobody' } = ctx.headers ?? {}
    return String(authorization)
  })
  const handle = fetchHandler(server)
  const guard = as.routes.get('/mcp')
  as.routes.set('/mcp', async request => {
    const refusal = await guard?.(request)
    if (refusal?.status !== undefined) return refusal
    const { method, body } = request
    const headers = new Headers()
    for (const [name, value] of Object.entries(request.headers)) {
      if (typeof value === 'string') headers.set(name, value)
    }
    const sent = new Request(as.url, { method, headers, ...(body !== '' && { body }) })
    const response = await handle(sent)
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    }
  })
  return as
}
