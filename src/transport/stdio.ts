import { Console } from 'node:console'
import { type Channel, ChannelError } from '../jsonrpc/channel.ts'
import { withMaxBytes } from '../jsonrpc/codec/decode-rules.ts'
import { limits } from '../util/limits/limits.ts'
import { type StreamOptions, streamChannel } from './stream/stream.ts'

export type StdioOptions = Omit<StreamOptions, 'lent'>

/**
 * The channel over this process's own standard input and output.
 *
 * Until it is closed, standard output carries messages only: what the program prints with
 * `console.log` and the like goes to standard error instead. A reader that goes away closes the
 * channel without a cause. A message over the limit is refused and reading goes on.
 *
 * Closing leaves the two streams open and lets the process end by itself; nothing here ends it. A
 * process has one such channel at a time: a second one throws a ChannelError `'refused'`.
 */
export function stdioChannel(options: StdioOptions = {}): Channel {
  if (inUse) throw new ChannelError('refused', 'opening stdio: it is in use already')
  inUse = true
  const restoreConsole = redirectConsole()
  const channel = streamChannel(process.stdin, process.stdout, {
    oversize: 'continue',
    ...options,
    decode: withMaxBytes(options.decode, limits.stdioMessageBytes.default),
    lent: true,
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= channel.close().then(() => {
      restoreConsole()
      inUse = false
    })
    return closing
  }
  let isHeard = true
  return {
    get halfOpen() {
      return isHeard
    },
    open: sink =>
      channel.open({
        receive: (arrival, envelope) => sink.receive(arrival, envelope),
        closed: cause => {
          isHeard = !isBrokenPipe(cause)
          sink.closed(isHeard ? cause : undefined)
        },
      }),
    send: message => channel.send(message),
    close,
    [Symbol.asyncDispose]: close,
  }
}

// Of the process, like the two streams.
let inUse = false

/** Everything that prints on standard output, and what must count and indent along with it. */
const printing = [
  ...['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group', 'groupCollapsed', 'groupEnd'],
  ...['count', 'countReset', 'time', 'timeLog', 'timeEnd'],
]

function redirectConsole(): () => void {
  const before = pick(console)
  const errors = pick(new Console(process.stderr))
  Object.assign(console, errors)
  return () => {
    // Whoever replaced a function in the meantime keeps it.
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
