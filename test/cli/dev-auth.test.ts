import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chooseUser } from '../support/dev-login.ts'
import { officialLogin } from '../support/official-login.ts'
import { fixture, start, trunkline } from './bin.ts'
import { emptyFolder, started } from './started.ts'

/** Runs `trunkline login`, and chooses a user on the page that it prints. */
async function logIn(address: string, user: string, env: Record<string, string>) {
  const child = start(['login', address, '--no-browser', '--json'], { env })
  onTestFinished(() => void child.kill('SIGKILL'))
  const printed = text(child.stdout)
  const exit = once(child, 'exit')
  for await (const line of createInterface({ input: child.stderr })) {
    const [page] = /http\S+\/authorize\S+/.exec(line) ?? []
    if (page !== undefined) await (await fetch(await chooseUser(new URL(page), user))).text()
  }
  return { exit: await exit, grant: JSON.parse(await printed) }
}

const anyPort = ['--listen', 'http://127.0.0.1:0/mcp']

describe('up --dev-auth', () => {
  test('a developer logs in, and calls tools in both eras', async () => {
    const folder = emptyFolder()
    const env = { XDG_STATE_HOME: folder }
    const { report, child } = await started(['up', '--demo', '--dev-auth', ...anyPort], {
      cwd: folder,
    })
    const [address = ''] = report.addresses
    expect(report.devAuth.users).toEqual([{ sub: 'ada', roles: ['admin'] }, { sub: 'bob' }])
    const stranger = await trunkline(['list', address], { env })
    expect(stranger.code).toBe(6)
    expect(stranger.stderr).toContain(`trunkline login ${address}`)
    const { exit, grant } = await logIn(address, 'ada', env)
    expect(exit[0]).toBe(0)
    expect(grant).toMatchObject({
      server: address,
      issuer: report.devAuth.issuer,
      isRenewable: true,
    })
    for (const era of ['session', 'stateless']) {
      const args = ['call', address, 'text__count', 'text=one two', '--era', era]
      const called = await trunkline(args, { env })
      expect([called.code, called.stdout]).toEqual([0, expect.stringMatching(/^2 words/)])
    }
    expect((await trunkline(['logout', address], { env })).code).toBe(0)
    expect((await trunkline(['list', address], { env })).code).toBe(6)
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
    await expect(fetch(report.devAuth.issuer)).rejects.toThrow()
  })

  test('a client of the official SDK logs in', async () => {
    const folder = emptyFolder()
    const { report } = await started(['up', '--demo', '--dev-auth=bob', ...anyPort], {
      cwd: folder,
    })
    const url = new URL(report.addresses[0])
    const login = officialLogin(page => chooseUser(page, 'bob'))
    const connecting = () => {
      const client = new Client({ name: 'official', version: '1' })
      const transport = new StreamableHTTPClientTransport(url, { authProvider: login.provider })
      onTestFinished(() => client.close())
      return { client, transport }
    }
    const first = connecting()
    await expect(first.client.connect(first.transport)).rejects.toThrow(/unauthorized/i)
    await first.transport.finishAuth(login.callback())
    const second = connecting()
    await second.client.connect(second.transport)
    const called = await second.client.callTool({ name: 'text__shout', arguments: { text: 'hi' } })
    expect(JSON.stringify(called.content)).toContain('HI')
  })

  test('the banner says who can log in, and how', async () => {
    const child = start(['up', '--demo', '--dev-auth=ada:admin:ops', ...anyPort], {
      cwd: emptyFolder(),
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      if (/trunkline login|main\.js login/.test(line)) break
    }
    expect(lines.join('\n')).toMatch(
      /for development only: http:\S+ logs anybody .* as ada \(admin, ops\)/,
    )
  })

  test.each([
    [['--dev-auth=ada,'], 'is not a user'],
    [['--dev-auth=<b>'], 'is not a user'],
    [
      ['--dev-auth', '--listen', 'http://0.0.0.0:0/mcp', '--public'],
      'for addresses of this machine',
    ],
    [['--dev-auth', '--listen', 'tcp://127.0.0.1:0'], 'guards http: and ws: addresses'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await trunkline(['up', '--demo', ...args], { cwd: emptyFolder() })
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  test('a configuration with "auth" is refused', async () => {
    const cwd = emptyFolder()
    const auth = { jwt: { issuer: 'https://as.example.com' } }
    writeFileSync(join(cwd, 'servers.json'), JSON.stringify({ mcpServers: {}, auth }))
    const { code, stderr } = await trunkline(['up', 'servers.json', '--dev-auth', ...anyPort], {
      cwd,
    })
    expect([code, stderr]).toEqual([2, expect.stringContaining('use one')])
  })
})

describe('serve --dev-auth', () => {
  const server = fixture('../../examples/hello-server.js')

  test('guards a server', async () => {
    const folder = emptyFolder()
    const env = { XDG_STATE_HOME: folder }
    const file = join(folder, 'server.mjs')
    const root = new URL('../../dist/index.js', import.meta.url).href
    writeFileSync(
      file,
      `import { Server } from '${root}'
export const server = new Server({ name: 'who', version: '1' })
server.tool('who', {}, (_, { caller }) => \`\${caller.principal.subject} \${caller.principal.roles}\`)
`,
    )
    const { report } = await started(['serve', file, '--http', '0', '--dev-auth'], { cwd: folder })
    const [address = ''] = report.addresses
    expect((await trunkline(['list', address], { env })).code).toBe(6)
    await logIn(address, 'ada', env)
    expect((await trunkline(['call', address, 'who'], { env })).stdout).toBe('ada admin\n')
  })

  test.each([
    [[server, '--dev-auth'], 'requires a file that exports a server'],
    [[server, '--http', '0', '--dev-auth', '--auth', 'x.json'], 'use one'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await trunkline(['serve', ...args], { cwd: emptyFolder() })
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
