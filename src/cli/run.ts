import { ChannelError } from '../jsonrpc/channel.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { errorMessage } from '../util/error-message.ts'
import { isRecord } from '../util/objects.ts'
import { version } from '../util/version.ts'
import { type CommandLine, parseCommandLine, unknownCommand } from './arguments.ts'
import { exitCodes, exitNameOf, Interrupted, UsageError } from './exit.ts'
import type { Run } from './invocation.ts'
import { commandNamed, commands } from './manual.ts'
import { type Output, oneLine, sanitize, Terminal } from './terminal.ts'

/** Loads a command on demand, so that `help` does not load the others. */
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

/** Standard streams and environment of the program. */
export interface ProcessContext {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: NodeJS.ReadStream
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Runs the program and returns its exit code. Results go to stdout, everything else to stderr. With `--json` a
 * failure is a document on stdout: `{ "error": { "message", "reason", "exitCode", … } }`.
 */
export async function run(
  argv: readonly string[],
  { stdout, stderr, stdin, env }: ProcessContext = process,
): Promise<number> {
  // Read before parsing, because errors about the arguments must respect them too.
  const own = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
  const terminal = new Terminal({
    stdout,
    stderr,
    env,
    quiet: own.includes('--quiet') || own.includes('-q'),
    noColor: own.includes('--no-color'),
  })
  if (stdout === process.stdout) exitOnBrokenPipe()
  const interruption = new AbortController()
  const stopListening = onInterrupt(() => interruption.abort(new Interrupted()))
  try {
    const [first = '', ...rest] = argv
    if (first === '--version' || first === '-V') {
      terminal.line(own.includes('--json') ? JSON.stringify({ version }) : version)
      return exitCodes.ok
    }
    const name = first === '--help' || first === '-h' ? 'help' : first
    const input = parseCommand(name, rest)
    const effective = input.has('help') ? parseCommand('help', [name]) : input
    const load = loaders.get(effective.command.name)
    if (load === undefined)
      throw new UsageError(`command "${effective.command.name}" cannot be run`)
    const command = await load()
    return await command.run({
      input: effective,
      terminal,
      signal: interruption.signal,
      stdin,
      env,
    })
  } catch (error) {
    return reportFailure(
      interruption.signal.aborted ? interruption.signal.reason : error,
      terminal,
      own,
    )
  } finally {
    stopListening()
  }
}

function parseCommand(name: string, rest: readonly string[]): CommandLine {
  const command = commandNamed(name)
  if (command !== undefined) return parseCommandLine(command, rest)
  const names = commands.map(each => each.name)
  if (name === '') throw new UsageError(`missing command: use one of ${names.join(', ')}`)
  throw unknownCommand(name)
}

function reportFailure(error: unknown, terminal: Terminal, argv: readonly string[]): number {
  const name = exitNameOf(error)
  const message = sanitize(errorMessage(error))
  const exitCode = exitCodes[name]
  if (argv.includes('--json')) {
    const rpc = error instanceof RpcError ? { code: error.code, data: error.data } : {}
    terminal.json({ error: { message, reason: name, exitCode, ...rpc } })
    return exitCode
  }
  const code = error instanceof RpcError ? ` (${error.code})` : ''
  terminal.error(`${terminal.styleStderr('trunkline:', 'red', 'bold')} ${message}${code}`)
  const hint = hintFor(error, argv[0])
  if (hint !== undefined) terminal.note(hint)
  if (argv.includes('--verbose') && error instanceof Error) terminal.note(String(error.stack))
  return exitCode
}

/** Returns what to do about a failure, or its details; undefined if the message is enough. */
function hintFor(error: unknown, command = ''): string | undefined {
  // An invalid configuration file needs no hint: its message has the position.
  if (error instanceof UsageError) {
    const page = commandNamed(command) === undefined ? 'help' : `help ${command}`
    return `run "trunkline ${page}" for help`
  }
  if (error instanceof RpcError) return errorDataText(error)
  if (!(error instanceof ChannelError)) return undefined
  return connectionHints.find(([pattern]) => pattern.test(error.message))?.[1]
}

/** Formats the error data of a server, without `kind`, which repeats the code. */
function errorDataText({ data }: RpcError): string | undefined {
  if (!isRecord(data)) return undefined
  const { kind: _, ...rest } = data
  return Object.keys(rest).length === 0 ? undefined : oneLine(JSON.stringify(rest), 500)
}

/** Hints for connection errors, by pattern of the message. */
const connectionHints: readonly (readonly [RegExp, string])[] = [
  [
    /ECONNREFUSED|ENOENT|no such file/,
    'nothing is listening there: is the server running, and does it use this port or path?',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'the host name cannot be resolved: check its spelling and the network'],
  [
    /wrong version number|packet length too long/,
    'the server does not speak TLS: use http:// or ws://?',
  ],
  [/Parse Error: Expected HTTP|a line without a carriage return/, 'the server does not speak HTTP'],
  [/in use/, 'stop the other program, or choose another address'],
]

/**
 * Calls `stop` for the first stop signal; the second one exits at once. Returns a function that removes the
 * handler.
 */
function onInterrupt(stop: () => void): () => void {
  let isStopping = false
  const onSignal = (): void => {
    if (isStopping) process.exit(exitCodes.interrupted)
    isStopping = true
    stop()
  }
  for (const signal of stopSignals) process.on(signal, onSignal)
  return () => {
    for (const signal of stopSignals) process.off(signal, onSignal)
  }
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** Exits without an error if the reader closes the pipe early, as in `trunkline list … | head -1`. */
function exitOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok)
    throw error
  })
}
