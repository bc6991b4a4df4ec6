import { ChannelError } from '../jsonrpc/channel.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { errorWords } from '../util/error-words.ts'
import { isRecord } from '../util/record.ts'
import { version } from '../util/version.ts'
import { type Input, parseInput, unknownCommand } from './arguments.ts'
import { exitCodes, exitNameOf, Interrupted, UsageError } from './exit.ts'
import type { Run } from './invocation.ts'
import { commandNamed, commands } from './manual.ts'
import { harmless, type Output, oneLine, Terminal } from './terminal.ts'

/** Each command is loaded when it is wanted: asking for help must not wait for the rest. */
const loaders: ReadonlyMap<string, () => Promise<{ readonly run: Run }>> = new Map([
  ['up', () => import('./commands/up.ts')],
  ['pins', () => import('./commands/pins.ts')],
  ['serve', () => import('./commands/serve.ts')],
  ['list', () => import('./commands/list.ts')],
  ['call', () => import('./commands/call.ts')],
  ['read', () => import('./commands/read.ts')],
  ['prompt', () => import('./commands/prompt.ts')],
  ['check', () => import('./commands/check.ts')],
  ['bench', () => import('./commands/bench.ts')],
  ['completion', () => import('./commands/completion.ts')],
  ['demo', () => import('./commands/demo.ts')],
  ['help', () => import('./commands/help.ts')],
])

/** What a program is started with besides its arguments. */
export interface Surroundings {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: NodeJS.ReadStream
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Runs the program with these arguments and gives its exit code. Results go to stdout, all else to
 * stderr. With `--json` a failure is a document too: `{ "error": { "message", "exitCode", … } }`.
 */
export async function run(
  argv: readonly string[],
  { stdout, stderr, stdin, env }: Surroundings = process,
): Promise<number> {
  // Found before the arguments are understood: complaints about them obey them too.
  const own = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
  const terminal = new Terminal({
    stdout,
    stderr,
    env,
    quiet: own.includes('--quiet') || own.includes('-q'),
    noColor: own.includes('--no-color'),
  })
  if (stdout === process.stdout) dieQuietlyOnBrokenPipe()
  const interruption = new AbortController()
  const stopListening = onInterrupt(() => interruption.abort(new Interrupted()))
  try {
    const [first = '', ...rest] = argv
    if (first === '--version' || first === '-V') {
      terminal.line(own.includes('--json') ? JSON.stringify({ version }) : version)
      return exitCodes.ok
    }
    const name = first === '--help' || first === '-h' ? 'help' : first
    const input = read(name, rest)
    const wanted = input.has('help') ? read('help', [name]) : input
    const load = loaders.get(wanted.command.name)
    if (load === undefined) throw new UsageError(`"${wanted.command.name}" cannot be run`)
    const command = await load()
    return await command.run({
      input: wanted,
      terminal,
      signal: interruption.signal,
      stdin,
      env,
    })
  } catch (error) {
    return failed(interruption.signal.aborted ? interruption.signal.reason : error, terminal, own)
  } finally {
    stopListening()
  }
}

function read(name: string, rest: readonly string[]): Input {
  const command = commandNamed(name)
  if (command !== undefined) return parseInput(command, rest)
  const names = commands.map(each => each.name)
  if (name === '') throw new UsageError(`a command is needed: one of ${names.join(', ')}`)
  throw unknownCommand(name)
}

function failed(error: unknown, terminal: Terminal, argv: readonly string[]): number {
  const name = exitNameOf(error)
  const message = harmless(errorWords(error))
  const exitCode = exitCodes[name]
  if (argv.includes('--json')) {
    const rpc = error instanceof RpcError ? { code: error.code, data: error.data } : {}
    terminal.json({ error: { message, reason: name, exitCode, ...rpc } })
    return exitCode
  }
  const code = error instanceof RpcError ? ` (${error.code})` : ''
  terminal.complain(`${terminal.tint('trunkline:', 'red', 'bold')} ${message}${code}`)
  const advice = adviceOn(error, argv[0])
  if (advice !== undefined) terminal.note(advice)
  if (argv.includes('--verbose') && error instanceof Error) terminal.note(String(error.stack))
  return exitCode
}

/** What to do about a failure, or what else is known of it; undefined where the message says it all. */
function adviceOn(error: unknown, command = ''): string | undefined {
  // A file that cannot be used is wrong in a place that its message names.
  if (error instanceof UsageError) {
    const page = commandNamed(command) === undefined ? 'help' : `help ${command}`
    return `"trunkline ${page}" shows how it is used`
  }
  if (error instanceof RpcError) return addedBy(error)
  if (!(error instanceof ChannelError)) return undefined
  return advices.find(([pattern]) => pattern.test(error.message))?.[1]
}

/** What a server says of an error besides its message; its kind says the same as the code. */
function addedBy({ data }: RpcError): string | undefined {
  if (!isRecord(data)) return undefined
  const { kind: _, ...rest } = data
  return Object.keys(rest).length === 0 ? undefined : oneLine(JSON.stringify(rest), 500)
}

const advices: readonly (readonly [RegExp, string])[] = [
  [
    /ECONNREFUSED|ENOENT|there is no such file/,
    'nothing listens there: is the server running, and is it this port or path that it uses?',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'there is no host of this name, or the network is not there'],
  [
    /wrong version number|packet length too long/,
    'what is there speaks no TLS: is it http:// or ws://?',
  ],
  [/Parse Error: Expected HTTP|a line without a carriage return/, 'what is there speaks no HTTP'],
  [/in use/, 'end what is there, or choose another address'],
]

/** The second interruption ends the process at once. */
function onInterrupt(stop: () => void): () => void {
  let isStopping = false
  const onSignal = (): void => {
    if (isStopping) process.exit(exitCodes.interrupted)
    isStopping = true
    stop()
  }
  for (const signal of interruptions) process.on(signal, onSignal)
  return () => {
    for (const signal of interruptions) process.off(signal, onSignal)
  }
}

const interruptions = ['SIGINT', 'SIGTERM'] as const

/** `trunkline list … | head -1` closes the pipe while there is more to write: no reason to complain. */
function dieQuietlyOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok)
    throw error
  })
}
