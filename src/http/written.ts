import { ChannelError } from '../jsonrpc/channel.ts'
import { encode } from '../jsonrpc/encode.ts'
import type { Message } from '../jsonrpc/message.ts'

/** A message as text. Throws a ChannelError `'unserialisable'` for one that is no JSON. */
export function written(message: Message | readonly Message[]): string {
  try {
    return encode(message)
  } catch (cause) {
    throw new ChannelError('unserialisable', 'sending: the message is no JSON', { cause })
  }
}
