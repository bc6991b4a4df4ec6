import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Field } from '../../mcp/elicitation/field.ts'
import { Terminal } from '../terminal.ts'
import { fieldPrompt, fillIn, type Lines, valueTyped, visit, withLines } from './prompts.ts'

const number: Field = { kind: 'number', isInteger: false, default: 5 }
const one: Field = {
  kind: 'one',
  spelling: 'titled',
  options: [{ value: 'r', title: 'Red' }, { value: 'g' }],
}

test.each([
  [{ kind: 'text', title: 'Name', description: 'Yours' } as const, true, '  Name (Yours)*: '],
  [number, false, '  x number {5}: '],
  [one, false, '  x [r: Red, g]: '],
  [{ kind: 'boolean' } as const, true, '  x y/n*: '],
])('a field is asked for in a line: %j', (field, isRequired, expected) => {
  expect(fieldPrompt('x', field, isRequired)).toBe(expected)
})

test.each([
  [{ kind: 'text' } as const, '5', '5'],
  [number, '2.5', 2.5],
  [one, 'r', 'r'],
  [{ ...one, kind: 'many' } as Field, 'r, g', ['r', 'g']],
  [{ kind: 'boolean' } as const, 'Yes', true],
  [{ kind: 'boolean' } as const, 'n', false],
  [{ kind: 'boolean' } as const, 'perhaps', 'perhaps'],
])('what is typed becomes what the field holds: %j %s', (field, typed, expected) => {
  expect(valueTyped(field, typed)).toEqual(expected)
})

test('an interruption at a question interrupts the program', async () => {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true })
  const interruption = new AbortController()
  const answer = withLines(
    { input, output, signal: interruption.signal, onInterrupt: () => interruption.abort() },
    lines => lines('sure? '),
  )
  input.write('\u0003')
  await expect(answer).rejects.toThrow()
  expect(interruption.signal.aborted).toBe(true)
})

test('whoever answers neither yes nor no is told what to type', async () => {
  const { lines, terminal, shown } = person('perhaps', 'y')
  const properties = { sure: { type: 'boolean' } } as const
  const requestedSchema = { type: 'object', properties, required: ['sure'] } as const
  const result = await fillIn({ message: 'Sure?', requestedSchema }, { terminal }, lines)
  expect(result).toEqual({ action: 'accept', content: { sure: true } })
  expect(shown).toContain('  type y or n\n')
})

/** A person who types these lines, and what they were shown. */
function person(...typed: string[]) {
  const shown: string[] = []
  const output = { write: (text: string) => shown.push(text) }
  const lines: Lines = async prompt => {
    shown.push(prompt)
    return typed.shift() ?? ''
  }
  return { lines, terminal: new Terminal({ stdout: output, stderr: output }), shown }
}

describe('a form', () => {
  const form = {
    message: 'Book a table',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 2 },
        guests: { type: 'integer', default: 2 },
        note: { type: 'string' },
      },
      required: ['name'],
    },
  } as const

  test('is filled in field by field, until each fits', async () => {
    const { lines, terminal, shown } = person('', 'x', 'Ada', '3', '')
    expect(await fillIn(form, { terminal }, lines)).toEqual({
      action: 'accept',
      content: { name: 'Ada', guests: 3 },
    })
    expect(shown.join('')).toContain('Book a table\n')
    expect(shown).toContain('  this one is needed\n')
    expect(shown).toContain('  must have 2 characters or more\n')
  })

  test.each([
    ['!decline', 'decline'],
    ['!cancel', 'cancel'],
  ])('ends with %s', async (typed, action) => {
    const { lines, terminal } = person('Ada', typed)
    expect(await fillIn(form, { terminal }, lines)).toEqual({ action })
  })
})

test.each([
  ['y', 'accept'],
  ['', 'decline'],
  ['no', 'decline'],
])('an address is shown whole, and gone to by who types "%s": %s', async (typed, action) => {
  const { lines, terminal, shown } = person(typed)
  const page = { mode: 'url', message: 'Sign in', url: 'https://example.com/a?b=c' } as const
  expect(await visit(page, { terminal }, lines)).toEqual({ action })
  expect(shown.join('')).toContain('https://example.com/a?b=c')
})

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'https://example.com/\u001bx', '-x'])(
  'what is no address of a web page is declined without asking: %j',
  async url => {
    const { lines, terminal, shown } = person('y')
    const page = { mode: 'url', message: 'Sign in', url } as const
    expect(await visit(page, { terminal }, lines)).toEqual({ action: 'decline' })
    expect(shown.join('')).toContain('declined, because')
    expect(shown.join('')).not.toContain('go there?')
    expect(shown.join('')).not.toContain('\u001b')
  },
)
