import { ChannelError } from '../jsonrpc/channel.ts'
import { decodeBy } from '../jsonrpc/decode.ts'
import type { RpcFailure } from '../jsonrpc/message.ts'
import { limits } from '../util/limits.ts'
import type { Exchange } from './client-exchange.ts'
import type { Line } from './client-line.ts'
import type { Replies } from './client-replies.ts'
import { follow, type StreamEnd } from './client-stream.ts'
import { drop, mediaType, readBody } from './client-web.ts'

/** The whole body of an answer, bounded in size and time. Rejects with a ChannelError otherwise. */
export async function bodyOf(
  response: Response,
  exchange: Exchange,
  { settings }: Line,
): Promise<Uint8Array> {
  const { maxBytes } = settings.rules
  const bytes = await inTime(exchange, settings, () => readBody(response, maxBytes))
  if (bytes !== undefined) return bytes
  throw new ChannelError('too-large', `the answer has more than ${maxBytes} bytes`)
}

/** The JSON-RPC error in the body of a refusal; undefined where there is none, or none to be read. */
export async function failureIn(
  response: Response,
  exchange: Exchange,
  { settings }: Line,
): Promise<RpcFailure | undefined> {
  if (mediaType(response) !== 'application/json') {
    drop(response)
    return undefined
  }
  try {
    const maxBytes = limits.httpRefusalBytes.default
    const bytes = await inTime(exchange, settings, () => readBody(response, maxBytes))
    const found = bytes === undefined ? undefined : decodeBy(bytes, settings.rules)
    return found?.type === 'error' ? found : undefined
  } catch {
    // The status is there, and says enough.
    return undefined
  }
}

/**
 * Follows the event stream that answers a request, over breaks where it belongs to a session. A server
 * that does not end it after the last reply has it cut.
 */
export function eventsOf(
  first: Response,
  exchange: Exchange,
  line: Line,
  replies: Replies,
): Promise<StreamEnd> {
  const { settings } = line
  const { leash } = exchange
  return follow(
    {
      leash,
      first,
      resumes: exchange.isStateless ? 'never' : 'with id',
      open: lastEventId => line.get(lastEventId, leash.next()),
      event: event => {
        const room = replies.takeEvent(exchange, event)
        if (exchange.isSettled) leash.cutAfter(settings.farewellMs)
        return room
      },
      isOver: () => exchange.isSettled,
    },
    settings,
  )
}

async function inTime<T>(
  { leash }: Exchange,
  { clock, bodyMs }: Line['settings'],
  read: () => Promise<T>,
): Promise<T> {
  const late = new ChannelError('timeout', 'the body of the answer takes too long')
  let isLate = false
  const timer = clock.start(() => {
    isLate = true
    leash.drop(late)
  }, bodyMs)
  try {
    return await read()
  } catch (error) {
    throw isLate ? late : error
  } finally {
    clock.stop(timer)
  }
}
