import { expect, test } from 'vitest'
import { connect } from '../../src/index.ts'
import { Ops } from '../../src/observe/health/health.ts'
import { observe } from '../../src/observe/index.ts'
import { readConfig } from '../../src/router/config/read.ts'
import { Router } from '../../src/router/index.ts'

const quiet = { onError: () => {} }

/** Returns the body of `/readyz`. */
function readyz(router: Router): string {
  let body = ''
  const ops = new Ops({ health: () => router.health() })
  const request = {
    method: 'GET',
    path: '/readyz',
    origin: () => ({ target: '/readyz', hosts: ['127.0.0.1'], origins: [] }),
    local: () => ({ loopback: true, port: 80 }),
  }
  ops.handle(request, { send: (_status, _headers, text) => (body = text ?? '') })
  return body
}

/** Runs a configuration until its only server has failed, and returns everything that was written. */
async function failing(server: object, env: Record<string, string>) {
  const config = readConfig(JSON.stringify({ mcpServers: { x: server } }), { env })
  const lines: string[] = []
  const stream = { write: (text: string) => lines.push(text) > 0, on: () => {}, off: () => {} }
  const router = new Router({ servers: config.servers, ...quiet })
  const observer = observe({ endpoint: router, logs: { level: 'debug', format: 'json', stream } })
  await expect.poll(() => router.server('x')?.instances[0]?.reason).toBeDefined()
  await using client = await connect(router, { revisions: ['2025-11-25'] })
  const failure = await client.call('x__any').then(
    result => JSON.stringify(result.raw),
    error => `${error.message} ${JSON.stringify(error.data)}`,
  )
  const { result } = (await client.request('tools/list')) as { result?: unknown }
  const seen = {
    readyz: readyz(router),
    caller: failure + JSON.stringify(result),
    operator: JSON.stringify(router.servers().map(({ instances, ...rest }) => [rest, instances])),
    log: lines.join(''),
  }
  await observer.close()
  await router.close()
  return seen
}

const node = process.execPath
const secret = 'sk-live-51Hq-very/secret+value'

test('the error output of a process is for the log, not for /readyz and callers', async () => {
  const program = `console.error('Error: key sk-live-plain at /home/me/app.js is wrong'); process.exit(3)`
  const seen = await failing({ command: node, args: ['-e', program] }, {})
  expect(seen.readyz).toContain('exited with code 3')
  expect(seen.readyz + seen.caller).not.toMatch(/sk-live|app\.js|Error:/)
  expect(seen.operator).toContain('sk-live-plain')
})

test.each([
  ['the path of a URL', { url: `http://127.0.0.1:9/s/\${TOKEN}/mcp` }],
  ['the query of a URL', { url: `http://127.0.0.1:9/mcp?k=\${TOKEN}` }],
  ['the user of a WebSocket URL', { url: `ws://127.0.0.1:9/\${TOKEN}` }],
  ['a command', { command: `/no/such/\${TOKEN}` }],
  ['the folder of a command', { command: node, args: ['-e', ''], cwd: `/no/such/\${TOKEN}` }],
  [
    'an argument that is printed',
    { command: node, args: ['-e', 'throw process.argv[1]', `\${TOKEN}`] },
  ],
  [
    'a variable that is printed',
    { command: node, args: ['-e', 'throw process.env.T'], env: { T: `\${TOKEN}` } },
  ],
])('the value of a variable in %s appears nowhere', async (_where, server) => {
  const seen = await failing(server, { TOKEN: secret })
  for (const [place, text] of Object.entries(seen)) {
    expect(text, place).not.toContain('sk-live')
    expect(text, place).not.toContain('secret+value')
    expect(text, place).not.toContain('secret%2Bvalue')
  }
})

test('an address with credentials is shown without them', async () => {
  const seen = await failing({ url: 'http://127.0.0.1:9/api/t0ken1234567890/mcp?key=abcdef' }, {})
  for (const text of Object.values(seen)) expect(text).not.toMatch(/t0ken|abcdef/)
  expect(seen.readyz).not.toContain('127.0.0.1')
})
