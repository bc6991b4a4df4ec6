import type { Channel } from '../../jsonrpc/channel.ts'
import { isList, type Message } from '../../jsonrpc/message.ts'
import { erlmcpNotification } from '../../mcp/names.ts'

/** Wraps a channel: notifications are sent under the names that erlmcp has for them. */
export function withErlmcpNames(channel: Channel): Channel {
  return {
    halfOpen: channel.halfOpen,
    get requestBudget() {
      return channel.requestBudget
    },
    abandon: channel.abandon?.bind(channel),
    poll: channel.poll?.bind(channel),
    open: sink => channel.open(sink),
    send: (message, envelope) =>
      channel.send(isList(message) ? message.map(renamed) : renamed(message), envelope),
    close: options => channel.close(options),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

function renamed(message: Message): Message {
  if (message.type !== 'notification') return message
  return { ...message, method: erlmcpNotification(message.method) }
}
