// node asks-url.js URL: a server on stdio whose tool `go` asks the user to visit the URL.
import { Server, serve } from '../../dist/index.js'

const server = new Server({ name: 'asks', version: '1' })
server.tool('go', {}, async (_, ctx) => {
  await ctx.elicit({ mode: 'url', message: 'Log in', url: process.argv[2] })
  return 'been there'
})
await serve(server)
