import { expect, test } from 'vitest'
import { connect } from '../../connect.ts'
import type { ToolRules } from '../../router/options.ts'
import { Router } from '../../router/router.ts'
import { Server } from '../../server/server.ts'
import { Terminal } from '../terminal.ts'
import { announce, noteLate } from './banner.ts'

const notes = new Server({ name: 'notes', version: '1.0.0' })
for (let number = 1; number <= 10; number++) notes.tool(`t${number}`, {}, () => '')

async function announced(...addresses: string[]) {
  return announcedWith({}, addresses)
}

async function announcedWith(rules: ToolRules, addresses: readonly string[]) {
  const said = { stdout: '', stderr: '' }
  const output = (name: keyof typeof said) => ({ write: (text: string) => (said[name] += text) })
  const terminal = new Terminal({ stdout: output('stdout'), stderr: output('stderr') })
  await using router = new Router({
    servers: { notes: { server: notes, prefix: false, tools: rules } },
  })
  await router.ready()
  const rest = { ops: undefined, program: 'trunkline', example: undefined }
  announce(terminal, { router, addresses, ...rest })
  return said
}

test('what is served, and what to try, is said on stdout', async () => {
  const { stdout } = await announced('http://127.0.0.1:3000/mcp')
  expect(stdout).toContain(
    'Serving http://127.0.0.1:3000/mcp\n  ✓ notes (10 tools)\n      t1, t2, t3, t4, t5, t6, t7, t8 and 2 more\n',
  )
  expect(stdout).toContain('  trunkline list http://127.0.0.1:3000/mcp\n')
})

test('where stdout is the wire nothing but messages is written there', async () => {
  const { stdout, stderr } = await announced('stdio:')
  expect(stdout).toBe('')
  expect(stderr).toContain(
    'Serving stdio:\n  ✓ notes (10 tools)\n      t1, t2, t3, t4, t5, t6, t7, t8 and 2 more\n',
  )
  expect(stderr).not.toContain('To try')
})

test('what can be tried beside stdio is said on stderr', async () => {
  const { stdout, stderr } = await announced('stdio:', 'tcp://127.0.0.1:4000')
  expect(stdout).toBe('')
  expect(stderr).toContain('  trunkline list tcp://127.0.0.1:4000\n')
})

test('servers that keep everybody waiting are named, and no others', async () => {
  const said: string[] = []
  const output = { write: (text: string) => said.push(text) }
  const terminal = new Terminal({ stdout: { write: () => {} }, stderr: output })
  const script = 'process.stdin.resume()'
  const slow = { command: process.execPath, args: ['-e', script] }
  await using router = new Router({ servers: { notes, slow }, onError: () => {} })
  await connect(router).then(client => client.close())
  noteLate(terminal, router, ['tcp://127.0.0.1:4000'])
  expect(said).toEqual(['Serving tcp://127.0.0.1:4000; still being started: slow\n'])
  await router.unregister('slow')
  noteLate(terminal, router, ['tcp://127.0.0.1:4000'])
  expect(said).toHaveLength(1)
})

test('a router without servers says so', async () => {
  const said = { stdout: '' }
  const output = { write: (text: string) => (said.stdout += text) }
  const terminal = new Terminal({ stdout: output, stderr: output })
  await using router = new Router({ servers: {} })
  const rest = { ops: undefined, program: 'trunkline', example: undefined }
  announce(terminal, { router, addresses: ['tcp://127.0.0.1:4000'], ...rest })
  expect(said.stdout).toContain('Serving tcp://127.0.0.1:4000\n  no servers yet\n')
})

test('a tool whose name another server has is told of, because nobody chose that', async () => {
  const said = { stdout: '' }
  const output = { write: (text: string) => (said.stdout += text) }
  const terminal = new Terminal({ stdout: output, stderr: output })
  const one = { server: notes, prefix: false } as const
  await using router = new Router({
    servers: { one, two: { ...one, tools: { allow: ['t1', 't2'] } } },
  })
  await router.ready()
  const rest = { ops: undefined, program: 'trunkline', example: undefined }
  announce(terminal, { router, addresses: ['tcp://127.0.0.1:4000'], ...rest })
  expect(said.stdout).toMatch(/ two \(0 tools\)\n {6}not shown: t1, t2 \(the name .*one.*\)\n/)
})

test('tools that callers do not see are not counted', async () => {
  const { stdout } = await announcedWith({ deny: ['t1*'] }, ['http://127.0.0.1:3000/mcp'])
  expect(stdout).toContain('  ✓ notes (8 tools)\n      t2, t3, t4, t5, t6, t7, t8, t9\n')
})
