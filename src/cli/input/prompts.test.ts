import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { FormField } from '../../mcp/elicitation/field.ts'
import { Terminal } from '../terminal.ts'
import {
  type AskLine,
  confirmUrl,
  fieldPrompt,
  fillInForm,
  parseFieldValue,
  withReadline,
} from './prompts.ts'

const number: FormField = { kind: 'number', isInteger: false, default: 5 }
const one: FormField = {
  kind: 'one',
  spelling: 'titled',
  options: [{ value: 'r', title: 'Red' }, { value: 'g' }],
}

test.each([
  [{ kind: 'text', title: 'Name', description: 'Yours' } as const, true, '  Name (Yours)*: '],
  [number, false, '  x number {5}: '],
  [one, false, '  x [r: Red, g]: '],
  [{ kind: 'boolean' } as const, true, '  x y/n*: '],
])('formats the prompt of a field: %j', (field, isRequired, expected) => {
  expect(fieldPrompt('x', field, isRequired)).toBe(expected)
})

test.each([
  [{ kind: 'text' } as const, '5', '5'],
  [number, '2.5', 2.5],
  [one, 'r', 'r'],
  [{ ...one, kind: 'many' } as FormField, 'r, g', ['r', 'g']],
  [{ kind: 'boolean' } as const, 'Yes', true],
  [{ kind: 'boolean' } as const, 'n', false],
  [{ kind: 'boolean' } as const, 'perhaps', 'perhaps'],
])('converts typed text to the type of the field: %j %s', (field, typed, expected) => {
  expect(parseFieldValue(field, typed)).toEqual(expected)
})

test('Ctrl-C at a prompt interrupts the program', async () => {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true })
  const interruption = new AbortController()
  const answer = withReadline(
    { input, output, signal: interruption.signal, onInterrupt: () => interruption.abort() },
    askLine => askLine('sure? '),
  )
  input.write('\u0003')
  await expect(answer).rejects.toThrow()
  expect(interruption.signal.aborted).toBe(true)
})

test('an answer that is neither yes nor no is asked for again with a hint', async () => {
  const { askLine, terminal, shown } = user('perhaps', 'y')
  const properties = { sure: { type: 'boolean' } } as const
  const requestedSchema = { type: 'object', properties, required: ['sure'] } as const
  const result = await fillInForm({ message: 'Sure?', requestedSchema }, { terminal }, askLine)
  expect(result).toEqual({ action: 'accept', content: { sure: true } })
  expect(shown).toContain('  type y or n\n')
})

/** A user who types these lines, and what is shown to the user. */
function user(...typed: string[]) {
  const shown: string[] = []
  const output = { write: (text: string) => shown.push(text) }
  const askLine: AskLine = async prompt => {
    shown.push(prompt)
    return typed.shift() ?? ''
  }
  return { askLine, terminal: new Terminal({ stdout: output, stderr: output }), shown }
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

  test('is filled in field by field, until each is valid', async () => {
    const { askLine, terminal, shown } = user('', 'x', 'Ada', '3', '')
    expect(await fillInForm(form, { terminal }, askLine)).toEqual({
      action: 'accept',
      content: { name: 'Ada', guests: 3 },
    })
    expect(shown.join('')).toContain('Book a table\n')
    expect(shown).toContain('  a value is required\n')
    expect(shown).toContain('  must have 2 characters or more\n')
  })

  test.each([
    ['!decline', 'decline'],
    ['!cancel', 'cancel'],
  ])('ends with %s', async (typed, action) => {
    const { askLine, terminal } = user('Ada', typed)
    expect(await fillInForm(form, { terminal }, askLine)).toEqual({ action })
  })
})

test.each([
  ['y', 'accept'],
  ['', 'decline'],
  ['no', 'decline'],
])('shows the whole URL, and answers the input "%s" with %s', async (typed, action) => {
  const { askLine, terminal, shown } = user(typed)
  const page = { mode: 'url', message: 'Sign in', url: 'https://example.com/a?b=c' } as const
  expect(await confirmUrl(page, { terminal }, askLine)).toEqual({ action })
  expect(shown.join('')).toContain('https://example.com/a?b=c')
})

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'https://example.com/\u001bx', '-x'])(
  'declines a URL that is not a web page without asking: %j',
  async url => {
    const { askLine, terminal, shown } = user('y')
    const page = { mode: 'url', message: 'Sign in', url } as const
    expect(await confirmUrl(page, { terminal }, askLine)).toEqual({ action: 'decline' })
    expect(shown.join('')).toContain('declined, because')
    expect(shown.join('')).not.toContain('continue?')
    expect(shown.join('')).not.toContain('\u001b')
  },
)
