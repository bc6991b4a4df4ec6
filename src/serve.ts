import { listen } from './listen.ts'
import { type ListenOptions, listenTables } from './listen-options.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { addressesOf, type ProcessEnvironment, tlsOf } from './serve-address.ts'
import { stdioNotice } from './stdio-notice.ts'
import type { Listener } from './transport/listener.ts'
import { checkOptions, type OptionTableOf } from './util/options.ts'

/** Options of `serve`. */
export interface ServeOptions extends ListenOptions {
  /** The addresses to serve on, instead of those that arguments and environment name. */
  readonly addresses?: readonly string[]
  /** The arguments of the program; by default those of the process. */
  readonly argv?: readonly string[]
  /** The environment variables; by default those of the process. */
  readonly env?: ProcessEnvironment
}

/** The server of a program while it runs. */
export interface Serving extends AsyncDisposable {
  /** The bound addresses, with the actual ports. */
  readonly addresses: readonly string[]
  /** Resolves when every listener has closed, just before the process exits. */
  readonly ended: Promise<void>
  /** Closes the listeners and the server gracefully, without ending the process. Idempotent. */
  close(): Promise<void>
}

/**
 * Runs the server of a program: on standard input and output, or on the addresses that its arguments
 * (`--http 3000`, `--tcp 4000`, `--unix path`, `--ws 4001`, several at once) or its environment
 * variables (`MCP_TRANSPORT`, `MCP_HOST`, `MCP_PORT`, `MCP_PATH`, `PORT`) name. `--https` and `--wss` take
 * their certificate from `tls`, `--tls-cert` and `--tls-key`; SIGHUP reads it again.
 *
 * Resolves when every address accepts connections. From then on it controls the process: the end of
 * standard input, SIGTERM and SIGINT each complete the requests in flight and then exit; a second signal
 * exits at once. It prints on standard error only. Rejects as `listen` does, with no listener left open.
 */
export async function serve(
  endpoint: Endpoint & { close?(): Promise<void> },
  options: ServeOptions = {},
): Promise<Serving> {
  checkOptions(options, table)
  const { addresses, argv = process.argv.slice(2), env = process.env, ...listening } = options
  const wanted = addresses ?? addressesOf(argv, env)
  const tls = listening.tls ?? tlsOf(argv, env)
  const listeners = await listenAll(endpoint, wanted, { ...listening, tls })
  const bound = listeners.map(({ address }) => address)
  for (const address of bound) {
    if (address !== 'stdio:') console.error(`listening on ${address}`)
  }
  if (bound.includes('stdio:') && process.stdin.isTTY) {
    console.error(stdioNotice({ argv: process.argv, cwd: process.cwd() }))
  }
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    await Promise.all(listeners.map(listener => listener.close()))
    await endpoint.close?.()
  }
  const forgetReload = onReloadSignal(listeners)
  const close = (): Promise<void> => {
    closing ??= end().finally(() => {
      forgetSignals()
      forgetReload()
    })
    return closing
  }
  const forgetSignals = onEndingSignals(() => close().then(() => process.exit(0)))
  const ends = listeners.map(async listener => {
    await listener.ended
    // The parent process has exited, or has closed the input.
    if (listener.address === 'stdio:' && closing === undefined) {
      await close()
      process.exit(0)
    }
  })
  const ended = Promise.all(ends).then(close)
  return { addresses: bound, ended, close, [Symbol.asyncDispose]: close }
}

const table: OptionTableOf<ServeOptions> = {
  ...listenTables.mcp,
  addresses: 'strings',
  argv: 'strings',
  env: 'object',
}

async function listenAll(
  endpoint: Endpoint,
  addresses: readonly string[],
  options: ListenOptions,
): Promise<readonly Listener[]> {
  const listeners: Listener[] = []
  try {
    for (const address of addresses) listeners.push(await listen(endpoint, address, options))
    return listeners
  } catch (error) {
    await Promise.all(listeners.map(listener => listener.close()))
    throw error
  }
}

/** Calls `end` on the first SIGTERM or SIGINT; the second one exits at once. Returns how to stop that. */
function onEndingSignals(end: () => void): () => void {
  let isEnding = false
  const onSignal = (_: NodeJS.Signals, number: number): void => {
    // The exit code that shells use for a process that a signal has ended.
    if (isEnding) process.exit(128 + number)
    isEnding = true
    end()
  }
  for (const signal of endings) process.on(signal, onSignal)
  return () => {
    for (const signal of endings) process.off(signal, onSignal)
  }
}

/** Reads certificates again on SIGHUP, where there are any. Returns how to stop that. */
function onReloadSignal(listeners: readonly Listener[]): () => void {
  if (listeners.every(({ reload }) => reload === undefined)) return () => {}
  const reload = (): void => {
    for (const listener of listeners) void listener.reload?.()
  }
  process.on('SIGHUP', reload)
  return () => void process.off('SIGHUP', reload)
}

const endings = ['SIGTERM', 'SIGINT'] as const
