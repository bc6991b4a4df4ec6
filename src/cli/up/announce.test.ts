import { expect, test } from 'vitest'
import type { ToolRules } from '../../router/options.ts'
import { Router } from '../../router/router.ts'
import { Server } from '../../server/server.ts'
import { Terminal } from '../terminal.ts'
import { announce } from './announce.ts'

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

test('tools that callers do not see are not counted', async () => {
  const { stdout } = await announcedWith({ deny: ['t1*'] }, ['http://127.0.0.1:3000/mcp'])
  expect(stdout).toContain('  ✓ notes (8 tools)\n      t2, t3, t4, t5, t6, t7, t8, t9\n')
})
