/* node hello-trunkline.js [plain]: a server of one tool, with a Zod schema or without Zod at all. */

// Written out here, because the shared modules take longer to load than the package.
const { TRUNKLINE_DIST } = process.env
const dist = TRUNKLINE_DIST === undefined ? new URL('../../dist', import.meta.url) : TRUNKLINE_DIST
const { Server, serve } = await import(`${dist}/index.js`)
const server = new Server({ name: 'hello', version: '1.0.0' })
server.tool('hello', { input: await input() }, () => String(process.memoryUsage().rss))
await serve(server, { argv: [], env: {} })

async function input() {
  if (process.argv[2] === 'plain') {
    return { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] }
  }
  const { z } = await import('zod')
  return z.object({ who: z.string() })
}
