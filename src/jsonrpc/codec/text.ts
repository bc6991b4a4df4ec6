import { ChannelError } from '../channel.ts'
import type { Message } from '../message.ts'
import { encode } from './encode.ts'

/**
 * What `send` puts on a wire. Throws a ChannelError `'unserialisable'` for what is no JSON, and a
 * TypeError for a batch of nothing, which is the caller's mistake.
 */
export function textOf(message: Message | readonly Message[]): string {
  if (Array.isArray(message) && message.length === 0) {
    throw new TypeError('a batch needs at least one message')
  }
  try {
    return encode(message)
  } catch (cause) {
    throw new ChannelError('unserialisable', 'sending: the message is no JSON', { cause })
  }
}
