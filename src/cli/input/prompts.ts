import { createInterface, type Interface } from 'node:readline/promises'
import type { ClientOptions, ServerRequestContext } from '../../client/options.ts'
import { type FormField, faultOf } from '../../mcp/elicitation/field.ts'
import { readFormField } from '../../mcp/elicitation/read.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  FormValue,
} from '../../mcp/types/elicitation.ts'
import { printable } from '../../util/text/printable.ts'
import type { Invocation } from '../invocation.ts'
import { oneLine } from '../terminal.ts'

/**
 * Builds the elicitation handlers of the client. They ask the user at the terminal; without a terminal they
 * decline, and say so on stderr.
 */
export function elicitHandlers(invocation: Invocation): NonNullable<ClientOptions['elicit']> {
  const { stdin, terminal, input } = invocation
  if (stdin.isTTY && process.stderr.isTTY && !input.has('json')) {
    return {
      form: (form, context) =>
        withUser(invocation, context, askLine => fillInForm(form, invocation, askLine)),
      url: (page, context) =>
        withUser(invocation, context, askLine => confirmUrl(page, invocation, askLine)),
    }
  }
  const decline = ({ message }: { readonly message: string }): ElicitResult => {
    terminal.error(`declined, because there is no terminal: "${oneLine(message, 300)}"`)
    return { action: 'decline' }
  }
  return { form: decline, url: decline }
}

function withUser(
  { stdin, signal }: Invocation,
  context: ServerRequestContext,
  ask: (askLine: AskLine) => Promise<ElicitResult>,
): Promise<ElicitResult> {
  return withReadline(
    {
      input: stdin,
      output: process.stderr,
      signal: AbortSignal.any([signal, context.signal]),
      onInterrupt: () => void process.emit('SIGINT', 'SIGINT'),
    },
    ask,
  )
}

/** Streams for prompting a user. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  readonly signal: AbortSignal
  /** Called for Ctrl-C: while a line is edited, it arrives as a character instead of a signal. */
  readonly onInterrupt: () => void
}

/** Runs `ask` with a line reader, and releases the terminal afterwards. */
export async function withReadline<T>(
  { input, output, signal, onInterrupt }: PromptStreams,
  ask: (askLine: AskLine) => Promise<T>,
): Promise<T> {
  const reader = createInterface({ input, output })
  reader.on('SIGINT', onInterrupt)
  try {
    return await ask(askLineOf(reader, signal))
  } finally {
    reader.close()
  }
}

/** Shows a prompt and reads one line. */
export type AskLine = (prompt: string) => Promise<string>

function askLineOf(reader: Interface, signal: AbortSignal): AskLine {
  return prompt => reader.question(prompt, { signal })
}

/** Prompts for each field of a form, and repeats a prompt until its value is valid. */
export async function fillInForm(
  { message, requestedSchema }: ElicitFormParams,
  { terminal }: Pick<Invocation, 'terminal'>,
  askLine: AskLine,
): Promise<ElicitResult> {
  terminal.error(terminal.styleStderr(printable(message), 'bold'))
  terminal.error('(empty line: default value; "!decline" or "!cancel": end the form)')
  const content: [string, FormValue][] = []
  for (const [name, schema] of Object.entries(requestedSchema.properties)) {
    const isRequired = requestedSchema.required?.includes(name) ?? false
    const answer = await fieldAnswer(
      name,
      readFormField(schema),
      isRequired,
      askLine,
      terminal.error.bind(terminal),
    )
    if (answer === 'decline' || answer === 'cancel') return { action: answer }
    if (answer !== undefined) content.push([name, answer.value])
  }
  return { action: 'accept', content: Object.fromEntries(content) }
}

type FieldAnswer = { readonly value: FormValue } | 'decline' | 'cancel' | undefined

async function fieldAnswer(
  name: string,
  field: FormField,
  isRequired: boolean,
  askLine: AskLine,
  report: (text: string) => void,
): Promise<FieldAnswer> {
  for (;;) {
    const typed = (await askLine(fieldPrompt(name, field, isRequired))).trim()
    if (typed === '!decline') return 'decline'
    if (typed === '!cancel') return 'cancel'
    if (typed === '') {
      if (field.default !== undefined || !isRequired) return undefined
      report('  a value is required')
      continue
    }
    const value = parseFieldValue(field, typed)
    const fault = faultOf(field, value)
    // The check: faultOf found no problem, so the value has the type of the field.
    if (fault === undefined) return { value: value as FormValue }
    report(`  ${field.kind === 'boolean' ? 'type y or n' : fault}`)
  }
}

/** Formats the prompt of a field. */
export function fieldPrompt(name: string, field: FormField, isRequired: boolean): string {
  const label = field.title ?? name
  const about = field.description === undefined ? '' : ` (${oneLine(field.description, 200)})`
  const kinds = {
    text: '',
    number: ' number',
    boolean: ' y/n',
    one: '',
    many: ' comma-separated',
  }
  const choices =
    field.kind === 'one' || field.kind === 'many'
      ? ` [${field.options.map(({ value, title }) => (title ? `${value}: ${title}` : value)).join(', ')}]`
      : ''
  const preset = field.default === undefined ? '' : ` {${String(field.default)}}`
  return `  ${oneLine(`${label}${about}${kinds[field.kind]}${choices}${preset}`, 500)}${isRequired ? '*' : ''}: `
}

/** Converts typed text to the type of the field; returns the text unchanged if that is not possible. */
export function parseFieldValue(field: FormField, typed: string): unknown {
  switch (field.kind) {
    case 'text':
    case 'one':
      return typed
    case 'number':
      return Number(typed)
    case 'boolean':
      if (/^(?:y|yes|true|1)$/i.test(typed)) return true
      return /^(?:n|no|false|0)$/i.test(typed) ? false : typed
    case 'many':
      return typed.split(',').map(part => part.trim())
  }
}

/**
 * Returns why a URL of a server must not be shown; undefined if it may be. It must be a web page, and must have no
 * special meaning if it is pasted into a shell.
 */
export function urlProblem(url: string): string | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return 'the URL is not a web page'
  const unsafe = /[\s"'`\\<>^{|}$;()]|\p{C}/u.exec(url)
  if (unsafe !== null) return 'the URL has characters that must be percent-encoded'
  const { username, password } = new URL(url)
  return username === '' && password === '' ? undefined : 'the URL has a user name or a password'
}

/** Shows a URL, and asks whether the user will open it. The URL is never opened by this program. */
export async function confirmUrl(
  { message, url }: ElicitUrlParams,
  { terminal }: Pick<Invocation, 'terminal'>,
  askLine: AskLine,
): Promise<ElicitResult> {
  terminal.error(terminal.styleStderr(printable(message), 'bold'))
  const problem = urlProblem(url)
  if (problem !== undefined) {
    terminal.error(`  declined, because ${problem}: ${oneLine(url, 200)}`)
    return { action: 'decline' }
  }
  terminal.error(`  open this URL yourself, if you trust it: ${printable(url)}`)
  const typed = (await askLine('  continue? y/n: ')).trim()
  return { action: /^y(?:es)?$/i.test(typed) ? 'accept' : 'decline' }
}
