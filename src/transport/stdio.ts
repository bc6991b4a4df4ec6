import { Console } from 'node:console'
import { type Channel, ChannelError } from '../jsonrpc/channel.ts'
import { withMaxBytes } from '../jsonrpc/codec/decode-rules.ts'
import { limits } from '../util/limits/limits.ts'
import { type StreamOptions, streamChannel } from './stream/stream.ts'

/** Options of the stdio channel. */
export type StdioOptions = Omit<StreamOptions, 'leaveOpen'>

/**
 * Makes the channel over the standard input and output of this process.
 *
 * Until it is closed, standard output carries messages only: `console.log` and the like print to
 * standard error instead. A peer that stops reading closes the channel without a cause. A message over
 * the limit is rejected, and reading continues.
 *
 * Closing leaves the two streams open and does not exit the process. A process has one such channel at
 * a time: a second one throws a ChannelError `'refused'`.
 */
export function stdioChannel(options: StdioOptions = {}): Channel {
  if (inUse) throw new ChannelError('refused', 'opening stdio: it is in use already')
  inUse = true
  const restoreConsole = redirectConsole()
  const channel = streamChannel(process.stdin, process.stdout, {
    oversize: 'continue',
    ...options,
    decode: withMaxBytes(options.decode, 'stdio', limits.stdioMessageBytes.default),
    leaveOpen: true,
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= channel.close().then(() => {
      restoreConsole()
      inUse = false
    })
    return closing
  }
  let canSend = true
  return {
    get halfOpen() {
      return canSend
    },
    open: sink =>
      channel.open({
        receive: (arrival, envelope, bytes) => sink.receive(arrival, envelope, bytes),
        closed: cause => {
          canSend = !isBrokenPipe(cause)
          sink.closed(canSend ? cause : undefined)
        },
      }),
    send: message => channel.send(message),
    close,
    [Symbol.asyncDispose]: close,
  }
}

// One per process, like the two streams.
let inUse = false

/**
 * The console methods that print to standard output, and those that share counters and indentation with
 * them.
 */
const printing = [
  ...['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group', 'groupCollapsed', 'groupEnd'],
  ...['count', 'countReset', 'time', 'timeLog', 'timeEnd'],
]

function redirectConsole(): () => void {
  const before = pick(console)
  const errors = pick(new Console(process.stderr))
  Object.assign(console, errors)
  return () => {
    // A function that the program has replaced in the meantime stays.
    const ours = printing.filter(name => Reflect.get(console, name) === errors[name])
    Object.assign(console, Object.fromEntries(ours.map(name => [name, before[name]])))
  }
}

function pick(from: Console): Record<string, unknown> {
  return Object.fromEntries(printing.map(name => [name, Reflect.get(from, name)]))
}

function isBrokenPipe(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === 'EPIPE') || isBrokenPipe(error.cause)
}
