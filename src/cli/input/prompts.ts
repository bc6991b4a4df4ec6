import { createInterface, type Interface } from 'node:readline/promises'
import type { ClientOptions, QuestionContext } from '../../client/options.ts'
import { type Field, faultOf } from '../../mcp/elicitation/field.ts'
import { readField } from '../../mcp/elicitation/read.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  FormValue,
} from '../../mcp/types/elicitation.ts'
import type { Invocation } from '../invocation.ts'
import { harmless, oneLine } from '../terminal.ts'

/**
 * Answers what a server wants to know: by asking the person at the terminal, or, where there is none,
 * by declining, which is said on stderr.
 */
export function elicitation(invocation: Invocation): NonNullable<ClientOptions['elicit']> {
  const { stdin, terminal, input } = invocation
  if (stdin.isTTY && process.stderr.isTTY && !input.has('json')) {
    return {
      form: (form, context) => asked(invocation, context, lines => fillIn(form, invocation, lines)),
      url: (page, context) => asked(invocation, context, lines => visit(page, invocation, lines)),
    }
  }
  const decline = ({ message }: { readonly message: string }): ElicitResult => {
    const words = oneLine(message, 300)
    terminal.complain(`declined, because there is no terminal to ask on: "${words}"`)
    return { action: 'decline' }
  }
  return { form: decline, url: decline }
}

function asked(
  { stdin, signal }: Invocation,
  context: QuestionContext,
  ask: (lines: Lines) => Promise<ElicitResult>,
): Promise<ElicitResult> {
  return withLines(
    {
      input: stdin,
      output: process.stderr,
      signal: AbortSignal.any([signal, context.signal]),
      onInterrupt: () => void process.emit('SIGINT', 'SIGINT'),
    },
    ask,
  )
}

/** Where lines are asked for, and who is told of Ctrl-C. */
export interface Asking {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  readonly signal: AbortSignal
  /** While a line is being edited the keys are a stream, and an interruption is no signal but a letter. */
  readonly onInterrupt: () => void
}

/** Lets something ask for lines, and gives the terminal back afterwards. */
export async function withLines<T>(
  { input, output, signal, onInterrupt }: Asking,
  ask: (lines: Lines) => Promise<T>,
): Promise<T> {
  const reader = createInterface({ input, output })
  reader.on('SIGINT', onInterrupt)
  try {
    return await ask(linesOf(reader, signal))
  } finally {
    reader.close()
  }
}

/** Asks for one line. */
export type Lines = (prompt: string) => Promise<string>

function linesOf(reader: Interface, signal: AbortSignal): Lines {
  return prompt => reader.question(prompt, { signal })
}

/** Has a form filled in, field by field; what does not fit is asked for again. */
export async function fillIn(
  { message, requestedSchema }: ElicitFormParams,
  { terminal }: Pick<Invocation, 'terminal'>,
  lines: Lines,
): Promise<ElicitResult> {
  terminal.complain(terminal.tint(harmless(message), 'bold'))
  terminal.complain('(an empty line takes the default; "!decline" and "!cancel" end the form)')
  const content: [string, FormValue][] = []
  for (const [name, schema] of Object.entries(requestedSchema.properties)) {
    const isRequired = requestedSchema.required?.includes(name) ?? false
    const answer = await fieldAnswer(
      name,
      readField(schema),
      isRequired,
      lines,
      terminal.complain.bind(terminal),
    )
    if (answer === 'decline' || answer === 'cancel') return { action: answer }
    if (answer !== undefined) content.push([name, answer.value])
  }
  return { action: 'accept', content: Object.fromEntries(content) }
}

type FieldAnswer = { readonly value: FormValue } | 'decline' | 'cancel' | undefined

async function fieldAnswer(
  name: string,
  field: Field,
  isRequired: boolean,
  lines: Lines,
  complain: (text: string) => void,
): Promise<FieldAnswer> {
  for (;;) {
    const typed = (await lines(fieldPrompt(name, field, isRequired))).trim()
    if (typed === '!decline') return 'decline'
    if (typed === '!cancel') return 'cancel'
    if (typed === '') {
      if (field.default !== undefined || !isRequired) return undefined
      complain('  this one is needed')
      continue
    }
    const value = valueTyped(field, typed)
    const fault = faultOf(field, value)
    // The check: faultOf found nothing, so that it is what the field holds.
    if (fault === undefined) return { value: value as FormValue }
    complain(`  ${field.kind === 'boolean' ? 'type y or n' : fault}`)
  }
}

/** What a field asks for, in a line. */
export function fieldPrompt(name: string, field: Field, isRequired: boolean): string {
  const words = field.title ?? name
  const about = field.description === undefined ? '' : ` (${oneLine(field.description, 200)})`
  const kinds = {
    text: '',
    number: ' number',
    boolean: ' y/n',
    one: '',
    many: ' several, by commas',
  }
  const choices =
    field.kind === 'one' || field.kind === 'many'
      ? ` [${field.options.map(({ value, title }) => (title ? `${value}: ${title}` : value)).join(', ')}]`
      : ''
  const preset = field.default === undefined ? '' : ` {${String(field.default)}}`
  return `  ${oneLine(`${words}${about}${kinds[field.kind]}${choices}${preset}`, 500)}${isRequired ? '*' : ''}: `
}

/** What somebody typed, as the field holds it; as it was typed where it cannot be that. */
export function valueTyped(field: Field, typed: string): unknown {
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
 * Why an address that a server names is none to go to: nobody is shown one that is no web page, or that
 * means something else to a shell it is pasted into. Undefined where it is one.
 */
export function pageFault(url: string): string | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return 'this is no address of a web page'
  const odd = /[\s"'`\\<>^{|}$;()]|\p{C}/u.exec(url)
  if (odd !== null) return 'the address holds characters that have to be encoded in one'
  const { username, password } = new URL(url)
  return username === '' && password === '' ? undefined : 'the address holds a name or a password'
}

/** Shows an address, and asks whether to go there. It is never opened from here. */
export async function visit(
  { message, url }: ElicitUrlParams,
  { terminal }: Pick<Invocation, 'terminal'>,
  lines: Lines,
): Promise<ElicitResult> {
  terminal.complain(terminal.tint(harmless(message), 'bold'))
  const fault = pageFault(url)
  if (fault !== undefined) {
    terminal.complain(`  declined, because ${fault}: ${oneLine(url, 200)}`)
    return { action: 'decline' }
  }
  terminal.complain(`  open this address yourself, if you trust it: ${harmless(url)}`)
  const typed = (await lines('  go there? y/n: ')).trim()
  return { action: /^y(?:es)?$/i.test(typed) ? 'accept' : 'decline' }
}
