import { Writable } from 'node:stream'
import type { ConfigInput } from '../../router/config/dialects/inputs.ts'
import type { Invocation } from '../invocation.ts'
import { oneLine } from '../terminal.ts'
import { type PromptStreams, withReadline } from './prompts.ts'

/**
 * Asks the user for the inputs of a configuration file, and returns the answers by id. Without a terminal
 * there are no prompts and no answers.
 */
export async function askConfigInputs(
  { stdin, input, signal }: Invocation,
  inputs: readonly ConfigInput[],
): Promise<ReadonlyMap<string, string>> {
  const hasTerminal = stdin.isTTY && process.stderr.isTTY && !input.has('json')
  if (!hasTerminal) return new Map()
  const onInterrupt = (): void => void process.emit('SIGINT', 'SIGINT')
  return answersTo(inputs, { input: stdin, output: process.stderr, signal, onInterrupt })
}

/**
 * Asks for each input. What is typed for a password is not shown. An empty answer is the default, if there
 * is one.
 */
export async function answersTo(
  inputs: readonly ConfigInput[],
  streams: PromptStreams,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>()
  for (const input of inputs) {
    streams.output.write(promptOf(input))
    const output = input.password ? silent() : streams.output
    const typed = await withReadline({ ...streams, output }, askLine => askLine(''))
    if (input.password) streams.output.write('\n')
    const answer = typed === '' ? input.default : typed
    if (answer !== undefined) answers.set(input.id, answer)
  }
  return answers
}

function promptOf({ id, description, options, default: preset, password }: ConfigInput): string {
  const choices = options === undefined ? '' : ` [${options.join(', ')}]`
  const usual = preset === undefined || password ? '' : ` {${preset}}`
  return `${oneLine(`${description ?? id}${choices}${usual}`, 300)}: `
}

/** Discards what is written, such as the echo of typed characters. */
function silent(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
