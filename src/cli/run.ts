import { RpcError } from '../jsonrpc/error.ts'
import { errorMessage } from '../util/text/error-message.ts'
import { printable } from '../util/text/printable.ts'
import { version } from '../util/version.ts'
import { type CommandLine, parseCommandLine, unknownCommand } from './arguments.ts'
import { exitCodes, exitNameOf, Interrupted, UsageError } from './exit.ts'
import { overview } from './help.ts'
import { hintFor } from './hints.ts'
import type { Run } from './invocation.ts'
import { commandNamed } from './manual/manual.ts'
import { inUseHint } from './port-in-use.ts'
import { programName } from './program.ts'
import { type Output, Terminal } from './terminal.ts'

/** Loads a command on demand, so that `help` does not load the others. */
const loaders: ReadonlyMap<string, () => Promise<{ readonly run: Run }>> = new Map([
  ['up', () => import('./commands/up.ts')],
  ['hosts', () => import('./commands/hosts.ts')],
  ['install', () => import('./commands/install.ts')],
  ['uninstall', () => import('./commands/uninstall.ts')],
  ['cluster', () => import('./cluster/command.ts')],
  ['pins', () => import('./commands/pins.ts')],
  ['serve', () => import('./commands/serve.ts')],
  ['login', () => import('./commands/auth/login.ts')],
  ['logout', () => import('./commands/auth/logout.ts')],
  ['grants', () => import('./commands/auth/grants.ts')],
  ['keys', () => import('./commands/auth/keys.ts')],
  ['policy', () => import('./commands/auth/policy.ts')],
  ['audit', () => import('./commands/auth/audit.ts')],
  ['list', () => import('./commands/list.ts')],
  ['call', () => import('./commands/call.ts')],
  ['read', () => import('./commands/read.ts')],
  ['prompt', () => import('./commands/prompt.ts')],
  ['types', () => import('./types/command.ts')],
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
    if (first === '' && rest.length === 0) {
      terminal.error(overview())
      return exitCodes.usage
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
    return await reportFailure(
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
  throw unknownCommand(name)
}

async function reportFailure(
  error: unknown,
  terminal: Terminal,
  argv: readonly string[],
): Promise<number> {
  const name = exitNameOf(error)
  const message = printable(errorMessage(error))
  const exitCode = exitCodes[name]
  if (argv.includes('--json')) {
    const rpc = error instanceof RpcError ? { code: error.code, data: error.data } : {}
    terminal.json({ error: { message, reason: name, exitCode, ...rpc } })
    return exitCode
  }
  const code = error instanceof RpcError ? ` (${error.code})` : ''
  terminal.error(`${terminal.styleStderr('trunkline:', 'red', 'bold')} ${message}${code}`)
  const hint = /already in use/.test(message)
    ? await inUseHint(message, argv, programName())
    : hintFor(error, argv[0])
  if (hint !== undefined) terminal.note(hint)
  if (isVerbose(argv)) for (const text of stacksOf(error)) terminal.note(printable(text))
  return exitCode
}

function isVerbose(argv: readonly string[]): boolean {
  return argv.includes('--verbose') || argv.includes('-v')
}

/** Returns the stack of an error, and those of its causes. */
function stacksOf(error: unknown): readonly string[] {
  const stacks: string[] = []
  for (let one = error; one instanceof Error && stacks.length < 8; one = one.cause) {
    stacks.push(`${stacks.length === 0 ? '' : 'caused by: '}${one.stack ?? one.message}`)
  }
  return stacks
}

/**
 * Calls `stop` for the first stop signal; the second one exits at once. Returns a function that removes the
 * handler.
 */
function onInterrupt(stop: () => void): () => void {
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals): void => {
    // The exit codes that a shell reports for a process that the signal ended.
    if (isStopping) process.exit(signal === 'SIGTERM' ? terminated : exitCodes.interrupted)
    isStopping = true
    stop()
  }
  for (const signal of stopSignals) process.on(signal, onSignal)
  return () => {
    for (const signal of stopSignals) process.off(signal, onSignal)
  }
}

const terminated = 143
const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** Exits without an error if the reader closes the pipe early, as in `trunkline list … | head -1`. */
function exitOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok)
    throw error
  })
}
