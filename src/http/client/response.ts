import { ChannelError } from '../../jsonrpc/channel.ts'
import { decodeBy } from '../../jsonrpc/codec/decode.ts'
import type { RpcFailure } from '../../jsonrpc/message.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Line } from './endpoint.ts'
import { follow, type StreamEnd } from './event-stream.ts'
import type { Posting } from './post.ts'
import type { Replies } from './replies.ts'
import { type Answer, mediaType } from './transport/http-client.ts'

/**
 * The whole body of an answer, bounded in size and time; at once where it is there. Throws, or rejects
 * with, a ChannelError otherwise.
 */
export function bodyOf(
  answer: Answer,
  posting: Posting,
  { settings }: Line,
): Uint8Array | Promise<Uint8Array> {
  const { maxBytes } = settings.rules
  const bytes = answer.whole(maxBytes)
  return bytes instanceof Promise
    ? inTime(posting, settings, bytes).then(all => fitting(all, maxBytes))
    : fitting(bytes, maxBytes)
}

function fitting(bytes: Uint8Array | undefined, maxBytes: number): Uint8Array {
  if (bytes !== undefined) return bytes
  throw new ChannelError('too-large', `the answer has more than ${maxBytes} bytes`)
}

/** The JSON-RPC error in the body of a refusal; undefined where there is none, or none to be read. */
export async function failureIn(
  answer: Answer,
  posting: Posting,
  { settings }: Line,
): Promise<RpcFailure | undefined> {
  if (mediaType(answer) !== 'application/json') {
    answer.drop()
    return undefined
  }
  try {
    const coming = answer.whole(limits.httpRefusalBytes.default)
    const bytes = coming instanceof Promise ? await inTime(posting, settings, coming) : coming
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
  first: Answer,
  posting: Posting,
  line: Line,
  replies: Replies,
): Promise<StreamEnd> {
  const { settings } = line
  const { leash } = posting
  return follow(
    {
      leash,
      first,
      resumes: posting.isStateless ? 'never' : 'with id',
      open: lastEventId => line.get(lastEventId, leash.next()),
      event: event => {
        const room = replies.takeEvent(posting, event)
        if (posting.isSettled) leash.cutAfter(settings.farewellMs)
        return room
      },
      isOver: () => posting.isSettled,
    },
    settings,
  )
}

async function inTime<T>(
  { leash }: Posting,
  { clock, bodyMs }: Line['settings'],
  coming: Promise<T>,
): Promise<T> {
  const late = new ChannelError('timeout', 'the body of the answer takes too long')
  let isLate = false
  const timer = clock.start(() => {
    isLate = true
    leash.drop(late)
  }, bodyMs)
  try {
    return await coming
  } catch (error) {
    throw isLate ? late : error
  } finally {
    clock.stop(timer)
  }
}
