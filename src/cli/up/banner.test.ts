import { expect, test } from 'vitest'
import type { ToolRules } from '../../router/options.ts'
import { Router } from '../../router/router.ts'
import { Server } from '../../server/server.ts'
import { Terminal } from '../terminal.ts'
import { noteSlowServers, printBanner } from './banner.ts'

const notes = new Server({ name: 'notes', version: '1.0.0' })
for (let number = 1; number <= 10; number++) notes.tool(`t${number}`, {}, () => '')

async function banner(...addresses: string[]) {
  return bannerWith({}, addresses)
}

async function bannerWith(rules: ToolRules, addresses: readonly string[]) {
  const said = { stdout: '', stderr: '' }
  const output = (name: keyof typeof said) => ({ write: (text: string) => (said[name] += text) })
  const terminal = new Terminal({ stdout: output('stdout'), stderr: output('stderr') })
  await using router = new Router({
    servers: { notes: { server: notes, prefix: false, tools: rules } },
  })
  await router.ready()
  const rest = { ops: undefined, program: 'trunkline', example: undefined }
  printBanner(terminal, { router, addresses, ...rest })
  return said
}

test('prints what is served, and what to try, to stdout', async () => {
  const { stdout } = await banner('http://127.0.0.1:3000/mcp')
  expect(stdout).toContain(
    'Serving http://127.0.0.1:3000/mcp\n  ✓ notes (10 tools)\n      t1, t2, t3, t4, t5, t6, t7, t8 and 2 more\n',
  )
  expect(stdout).toContain('  trunkline list http://127.0.0.1:3000/mcp\n')
})

test.each([
  [40, 't1, t2, t3, t4, t5, t6 and 4 more'],
  [10, 't1 and 9 more'],
])('cuts the names of tools to the width of the terminal (%i)', async (columns, expected) => {
  let said = ''
  const stdout = { write: (text: string) => (said += text), columns }
  const terminal = new Terminal({ stdout, stderr: { write: () => {} } })
  await using router = new Router({ servers: { notes: { server: notes, prefix: false } } })
  await router.ready()
  const rest = { ops: undefined, program: 'trunkline', example: undefined }
  printBanner(terminal, { router, addresses: ['tcp://127.0.0.1:4000'], ...rest })
  expect(said).toContain(`\n      ${expected}\n`)
})

test('prints nothing to stdout if it carries protocol messages', async () => {
  const { stdout, stderr } = await banner('stdio:')
  expect(stdout).toBe('')
  expect(stderr).toContain(
    'Serving stdio:\n  ✓ notes (10 tools)\n      t1, t2, t3, t4, t5, t6, t7, t8 and 2 more\n',
  )
  expect(stderr).not.toContain('Try:')
})

test('prints what to try to stderr if stdio is served too', async () => {
  const { stdout, stderr } = await banner('stdio:', 'tcp://127.0.0.1:4000')
  expect(stdout).toBe('')
  expect(stderr).toContain('  trunkline list tcp://127.0.0.1:4000\n')
})

test('names only the servers that are still starting', async () => {
  const said: string[] = []
  const output = { write: (text: string) => said.push(text) }
  const terminal = new Terminal({ stdout: { write: () => {} }, stderr: output })
  const script = 'process.stdin.resume()'
  const slow = { command: process.execPath, args: ['-e', script] }
  await using router = new Router({ servers: { notes, slow }, onError: () => {} })
  await expect.poll(() => router.server('notes')?.level).toBe('ok')
  noteSlowServers(terminal, router, ['tcp://127.0.0.1:4000'])
  expect(said).toEqual(['Serving tcp://127.0.0.1:4000; still starting: slow\n'])
  await router.unregister('slow')
  noteSlowServers(terminal, router, ['tcp://127.0.0.1:4000'])
  expect(said).toHaveLength(1)
})

test('a router without servers says so', async () => {
  const said = { stdout: '' }
  const output = { write: (text: string) => (said.stdout += text) }
  const terminal = new Terminal({ stdout: output, stderr: output })
  await using router = new Router({ servers: {} })
  const rest = { ops: undefined, program: 'trunkline', example: undefined }
  printBanner(terminal, { router, addresses: ['tcp://127.0.0.1:4000'], ...rest })
  expect(said.stdout).toContain('Serving tcp://127.0.0.1:4000\n  no servers yet\n')
})

test('shows a tool that is hidden by a tool of the same name, because that is not on purpose', async () => {
  const said = { stdout: '' }
  const output = { write: (text: string) => (said.stdout += text) }
  const terminal = new Terminal({ stdout: output, stderr: output })
  const one = { server: notes, prefix: false } as const
  await using router = new Router({
    servers: { one, two: { ...one, tools: { allow: ['t1', 't2'] } } },
  })
  await router.ready()
  const rest = { ops: undefined, program: 'trunkline', example: undefined }
  printBanner(terminal, { router, addresses: ['tcp://127.0.0.1:4000'], ...rest })
  expect(said.stdout).toMatch(/ two \(0 tools\)\n {6}hidden: t1, t2 \(the name .*one.*\)\n/)
})

test('tools that callers do not see are not counted', async () => {
  const { stdout } = await bannerWith({ deny: ['t1*'] }, ['http://127.0.0.1:3000/mcp'])
  expect(stdout).toContain('  ✓ notes (8 tools)\n      t2, t3, t4, t5, t6, t7, t8, t9\n')
})
