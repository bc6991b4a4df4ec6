import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hostPath, hosts } from '../../src/cli/hosts/hosts.ts'
import { connect } from '../../src/connect.ts'
import { ran } from '../support/ran.ts'
import { fixture, trunkline } from './bin.ts'

/** A home folder and a project for as long as the test lasts. */
function fakeHome() {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-install-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = { HOME: home, USERPROFILE: home, APPDATA: join(home, 'AppData') }
  const project = join(home, 'project')
  mkdirSync(project)
  const all = { command: process.execPath, args: [fixture('../fixtures/everything-stdio.js')] }
  writeFileSync(join(project, 'mcp.json'), JSON.stringify({ mcpServers: { all } }))
  const run = (...args: string[]) => trunkline(args, { cwd: project, env })
  return { env, project, run, system: { platform: process.platform, env, folder: project } }
}

// In this process, because a process for each step takes longer than all steps. The other tests start processes.
test.each(hosts)('the router is installed in $id, found there, and removed', async host => {
  const { env, project, system } = fakeHome()
  const run = (...args: string[]) => ran(args, env)
  const file = join(project, 'mcp.json')
  const path = hostPath(host, 'user', system) ?? ''
  const installed = await run('install', host.id, file)
  expect([installed.code, installed.stderr]).toEqual([0, ''])
  const text = readFileSync(path, 'utf8')
  const listed = JSON.parse((await run('hosts', '--json')).stdout)
  expect(listed.files).toMatchObject([
    { path, host: host.title, scope: 'user', servers: [{ name: 'trunkline', state: 'ok' }] },
  ])
  const again = await run('install', host.id, file)
  expect([again.code, again.stdout]).toEqual([0, `${path} has trunkline already\n`])
  expect(readFileSync(path, 'utf8')).toBe(text)
  const removed = await run('uninstall', host.id)
  expect([removed.code, existsSync(path)]).toEqual([0, false])
  expect((await run('uninstall', host.id)).stdout).toContain('does not have trunkline')
})

test('what is installed is the router of the files, and it works', async () => {
  const { run, project } = fakeHome()
  expect((await run('install', 'cursor', '--project', 'mcp.json')).code).toBe(0)
  const text = readFileSync(join(project, '.cursor', 'mcp.json'), 'utf8')
  const { command, args } = JSON.parse(text).mcpServers.trunkline
  await using client = await connect({ command, args })
  const names = []
  for await (const { name } of client.tools()) names.push(name)
  expect(names.some(name => name.startsWith('all__'))).toBe(true)
})

test('another server is replaced only by force, and a dry run changes nothing', async () => {
  const { run, system } = fakeHome()
  const [host] = hosts.filter(({ id }) => id === 'claude-desktop')
  const path = (host && hostPath(host, 'user', system)) ?? ''
  mkdirSync(dirname(path), { recursive: true })
  const before = '{\n  "theme": "dark", "mcpServers": {\n    "mail": { "command": "x" }\n  }\n}\n'
  writeFileSync(path, before)
  const install = (...args: string[]) =>
    run('install', 'claude-desktop', '--name', 'mail', ...args, '--', 'node', 'mail.js')
  const refused = await install()
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('use --force')])
  const shown = await install('--force', '--dry-run')
  expect(shown.stdout).toContain('-     "mail": { "command": "x" }\n')
  expect(shown.stdout).toContain('+       "command": "node",\n')
  expect(readFileSync(path, 'utf8')).toBe(before)
  expect((await install('--force')).code).toBe(0)
  const { theme, mcpServers } = JSON.parse(readFileSync(path, 'utf8'))
  expect([theme, mcpServers]).toEqual(['dark', { mail: { command: 'node', args: ['mail.js'] } }])
})

test.each([
  ['an unknown host', ['install', 'curser'], 'did you mean "cursor"?'],
  ['no host', ['uninstall'], 'missing host'],
  ['a host without such a file', ['install', 'windsurf', '--project'], 'no file for a project'],
  ['an address that is none', ['install', 'zed', '--url', 'x'], '--url must be an HTTP address'],
  ['two servers', ['install', 'zed', '--url', 'http://x', '--', 'a'], 'use only one of'],
  ['its own file', ['install', 'cursor', '--project', '.cursor/mcp.json'], 'cannot be served by'],
])('%s is refused', async (_, args, message) => {
  const { run } = fakeHome()
  const { code, stderr } = await run(...args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})

test('a file that is not valid stays as it is', async () => {
  const { run, project } = fakeHome()
  mkdirSync(join(project, '.cursor'))
  const path = join(project, '.cursor', 'mcp.json')
  for (const text of ['{"mcpServers": ', '[]', '\uFEFF']) {
    writeFileSync(path, text)
    await run('install', 'cursor', '--project', 'mcp.json')
    if (text !== '\uFEFF') expect(readFileSync(path, 'utf8')).toBe(text)
  }
  writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]))
  const { code, stderr } = await run('install', 'cursor', '--project', 'mcp.json')
  expect([code, stderr]).toEqual([2, expect.stringContaining('it is not UTF-8')])
  expect([...readFileSync(path)]).toEqual([0x7b, 0xff, 0x7d])
})
