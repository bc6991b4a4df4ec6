import type { Channel, Sink } from '../../jsonrpc/channel.ts'
import { encodeForSend } from '../../jsonrpc/codec/encode.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import { oneLine } from '../terminal.ts'

/** Characters shown of one message. */
const maxCharacters = 4000

/** Wraps a channel, and writes one line for each message, failure and close. */
export function withWireLog(channel: Channel, write: (line: string) => void): Channel {
  const { abandon, poll } = channel
  return {
    halfOpen: channel.halfOpen,
    open: (sink: Sink) =>
      channel.open({
        receive: (arrival, envelope) => {
          write(`<- ${arrivalText(arrival)}`)
          return sink.receive(arrival, envelope)
        },
        failed: (id, error) => {
          write(`-- ${String(id)}: ${error.message}`)
          sink.failed?.(id, error)
        },
        retired: cause => sink.retired?.(cause),
        suspended: isSuspended => sink.suspended?.(isSuspended),
        closed: (cause, isDrained) => {
          write(
            `-- closed${cause === undefined ? '' : `: ${oneLine(cause.message, maxCharacters)}`}`,
          )
          sink.closed(cause, isDrained)
        },
      }),
    send: (message, envelope) => {
      write(`-> ${messageText(message)}`)
      return channel.send(message, envelope)
    },
    ...(abandon && { abandon: id => abandon.call(channel, id) }),
    ...(poll && { poll: about => poll.call(channel, about) }),
    close: options => channel.close(options),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

function arrivalText(arrival: Decoded): string {
  if (arrival.type === 'invalid')
    return `invalid message: ${oneLine(arrival.detail, maxCharacters)}`
  if (arrival.type !== 'batch') return messageText(arrival)
  return `[${arrival.entries.map(entry => arrivalText(entry)).join(',')}]`
}

function messageText(message: Message | readonly Message[]): string {
  return oneLine(encodeForSend(message), maxCharacters)
}
