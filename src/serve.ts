import { listen } from './listen.ts'
import { type ListenOptions, listenTables } from './listen-options.ts'
import type { Endpoint } from './mcp/endpoint.ts'
import { addressesOf, type Environment } from './serve-address.ts'
import type { Listener } from './transport/listener.ts'
import { checkOptions, type OptionTableOf } from './util/options.ts'

/** What a program that serves may say itself. */
export interface ServeOptions extends ListenOptions {
  /** Where to serve, instead of what arguments and environment say. */
  readonly addresses?: readonly string[]
  /** The program's arguments; by default those it was started with. */
  readonly argv?: readonly string[]
  /** By default that of the process. */
  readonly env?: Environment
}

/** A program's server while it runs. */
export interface Serving extends AsyncDisposable {
  /** The addresses really bound. */
  readonly addresses: readonly string[]
  /** Resolves when everything is over, just before the process exits by itself. */
  readonly ended: Promise<void>
  /** Ends in good order, without ending the process. Idempotent. */
  close(): Promise<void>
}

/**
 * Runs a program's server: on standard input and output, or where its arguments (`--http 3000`,
 * `--tcp 4000`, `--unix path`, `--ws 4001`, several at once) or its environment (`MCP_TRANSPORT`,
 * `MCP_HOST`, `MCP_PORT`, `MCP_PATH`, `PORT`) say.
 *
 * Resolves when it can be reached. From then on the process belongs to it: the end of standard input
 * ends the process after what was asked has been answered, and so do SIGTERM and SIGINT; a second
 * signal ends it at once. It prints on standard error only. Rejects as `listen` does, with nothing left
 * open.
 */
export async function serve(
  endpoint: Endpoint & Partial<Closable>,
  options: ServeOptions = {},
): Promise<Serving> {
  checkOptions(options, table)
  const { addresses, argv = process.argv.slice(2), env = process.env, ...listening } = options
  const wanted = addresses ?? addressesOf(argv, env)
  const listeners = await listenAll(endpoint, wanted, listening)
  const bound = listeners.map(({ address }) => address)
  for (const address of bound) {
    if (address !== 'stdio:') console.error(`listening on ${address}`)
  }
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    await Promise.all(listeners.map(listener => listener.close()))
    await endpoint.close?.()
  }
  const close = (): Promise<void> => {
    closing ??= end().finally(forgetSignals)
    return closing
  }
  const forgetSignals = onEndingSignals(() => close().then(() => process.exit(0)))
  const isOver = listeners.map(async listener => {
    await listener.ended
    // Whoever started this program has gone, or has no more to say.
    if (listener.address === 'stdio:' && closing === undefined) {
      await close()
      process.exit(0)
    }
  })
  const ended = Promise.all(isOver).then(close)
  return { addresses: bound, ended, close, [Symbol.asyncDispose]: close }
}

const table: OptionTableOf<ServeOptions> = {
  ...listenTables.mcp,
  addresses: 'texts',
  argv: 'texts',
  env: 'object',
}

interface Closable {
  close(): Promise<void>
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

/** Calls `end` on the first signal that asks this process to end; the second one ends it at once. */
function onEndingSignals(end: () => void): () => void {
  let isEnding = false
  const onSignal = (_: NodeJS.Signals, number: number): void => {
    // What shells say of a process that a signal has ended.
    if (isEnding) process.exit(128 + number)
    isEnding = true
    end()
  }
  for (const signal of endings) process.on(signal, onSignal)
  return () => {
    for (const signal of endings) process.off(signal, onSignal)
  }
}

const endings = ['SIGTERM', 'SIGINT'] as const
