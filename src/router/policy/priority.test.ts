import { expect, test } from 'vitest'
import type { Caller } from '../../mcp/caller.ts'
import type { Priority, PriorityRule } from '../options.ts'
import { priorityRules } from './priority.ts'

function callOf(wanted?: unknown, principal?: string, tool: string | undefined = 'find') {
  // The check: that is all of a caller that is looked at.
  const caller = { principal: principal && { id: principal }, client: { name: 'app' } }
  const params = wanted === undefined ? {} : { _meta: { 'trunkline/priority': wanted } }
  return { caller: caller as unknown as Caller, tool, params }
}

test.each<[string, readonly PriorityRule[], ReturnType<typeof callOf>, Priority]>([
  ['without rules', [], callOf(), 'normal'],
  ['a caller that stands back', [], callOf('low'), 'low'],
  ['a caller that pushes ahead', [], callOf('high'), 'normal'],
  ['a caller that asks for nonsense', [], callOf('urgent'), 'normal'],
  ['a rule for the server', [{ server: 's*', priority: 'high' }], callOf(), 'high'],
  ['a rule for another server', [{ server: 'x', priority: 'high' }], callOf(), 'normal'],
  ['a rule for the tool', [{ tool: 'find', priority: 'low' }], callOf(), 'low'],
  ['a rule for a tool, and no tool', [{ tool: 'find' }], callOf('low', 'ann', ''), 'low'],
  ['a rule for the principal', [{ principal: 'a*', priority: 'high' }], callOf(0, 'ann'), 'high'],
  ['a rule for callers without one', [{ principal: '', priority: 'low' }], callOf(), 'low'],
  ['a rule for the client', [{ client: 'app', priority: 'low' }], callOf(), 'low'],
  ['a rule that trusts the caller', [{ priority: 'caller' }], callOf('high'), 'high'],
  ['the first of two rules', [{ priority: 'low' }, { priority: 'high' }], callOf(), 'low'],
  ['a rule over the wish of the caller', [{ priority: 'normal' }], callOf('low'), 'normal'],
])('%s', (_, rules, call, expected) => {
  expect(priorityRules(rules)('s', call)).toBe(expected)
})

test('a rule with an unknown priority is refused', () => {
  // @ts-expect-error: not one of the priorities
  expect(() => priorityRules([{ priority: 'urgent' }])).toThrow('"urgent"')
})
