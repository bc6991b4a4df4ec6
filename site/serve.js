// Serves site/dist on the loopback interface, to look at: node site/serve.js [port]
// (The preview of VitePress listens on every interface.)

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('dist', import.meta.url))
const types = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
}

const server = createServer(async (request, response) => {
  try {
    // Not decoded: no page needs it, and so no `..` can be left after URL has removed them.
    const path = new URL(request.url, 'http://site').pathname
    const [file, body] = await firstOf([path, `${path}.html`, `${path}index.html`])
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' })
    response.end(body)
  } catch {
    response.writeHead(404).end('Not found')
  }
})
server.listen(Number(process.argv[2] ?? 4173), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`)
})

async function firstOf(paths) {
  for (const path of paths) {
    const body = await readFile(join(dist, path)).catch(() => undefined)
    if (body !== undefined) return [path, body]
  }
  throw new Error('no such page')
}
