import type { Channel, Sink } from '../../jsonrpc/channel.ts'
import { textOf } from '../../jsonrpc/codec/text.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import { oneLine } from '../terminal.ts'

/** How much of one message is shown. */
const shownCharacters = 4000

/** A channel that tells what passes through it, one line for each message. */
export function traced(channel: Channel, tell: (line: string) => void): Channel {
  const { abandon, poll } = channel
  return {
    halfOpen: channel.halfOpen,
    open: (sink: Sink) =>
      channel.open({
        receive: (arrival, envelope) => {
          tell(`<- ${arrivalText(arrival)}`)
          return sink.receive(arrival, envelope)
        },
        failed: (id, error) => {
          tell(`-- ${String(id)}: ${error.message}`)
          sink.failed?.(id, error)
        },
        closed: cause => {
          tell(
            `-- closed${cause === undefined ? '' : `: ${oneLine(cause.message, shownCharacters)}`}`,
          )
          sink.closed(cause)
        },
      }),
    send: (message, envelope) => {
      tell(`-> ${messageText(message)}`)
      return channel.send(message, envelope)
    },
    ...(abandon && { abandon: id => abandon.call(channel, id) }),
    ...(poll && { poll: about => poll.call(channel, about) }),
    close: () => channel.close(),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

function arrivalText(arrival: Decoded): string {
  if (arrival.type === 'invalid') return `no message: ${oneLine(arrival.detail, shownCharacters)}`
  if (arrival.type !== 'batch') return messageText(arrival)
  return `[${arrival.entries.map(entry => arrivalText(entry)).join(',')}]`
}

function messageText(message: Message | readonly Message[]): string {
  return oneLine(textOf(message), shownCharacters)
}
