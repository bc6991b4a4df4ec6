import { ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import type { HttpEndpoint } from './endpoint.ts'
import { follow, type StreamEnd } from './event-stream.ts'
import type { PendingPost } from './post.ts'
import type { Replies } from './replies.ts'
import { type ErrorBody, errorBodyOf } from './transport/error-body.ts'
import { type HttpResponse, mediaType } from './transport/http-client.ts'

/**
 * Returns the whole body of a response, limited in size and time; synchronously if it has arrived.
 * Throws, or rejects with, a ChannelError otherwise.
 */
export function readBody(
  response: HttpResponse,
  post: PendingPost,
  { settings }: HttpEndpoint,
): Uint8Array | Promise<Uint8Array> {
  const { maxBytes } = settings.rules
  const bytes = response.whole(maxBytes)
  return bytes instanceof Promise
    ? inTime(post, settings, bytes).then(all => withinLimit(all, maxBytes))
    : withinLimit(bytes, maxBytes)
}

function withinLimit(bytes: Uint8Array | undefined, maxBytes: number): Uint8Array {
  if (bytes !== undefined) return bytes
  throw new ChannelError('too-large', `the response has more than ${maxBytes} bytes`)
}

/** Resolves to what the body of a rejection says; to nothing if it is long or cannot be read. */
export async function readErrorBody(
  response: HttpResponse,
  post: PendingPost,
  { settings }: HttpEndpoint,
): Promise<ErrorBody> {
  try {
    const coming = response.whole(limits.httpErrorBodyBytes.default)
    const bytes = coming instanceof Promise ? await inTime(post, settings, coming) : coming
    return bytes === undefined ? {} : errorBodyOf(bytes, mediaType(response), settings.rules)
  } catch {
    // The status alone is enough.
    return {}
  }
}

/**
 * Follows the event stream that answers a request, and resumes it where it belongs to a session. If the
 * server does not end the stream after the last reply, it is cancelled.
 */
export function followEvents(
  first: HttpResponse,
  post: PendingPost,
  endpoint: HttpEndpoint,
  replies: Replies,
): Promise<StreamEnd> {
  const { settings } = endpoint
  const { scope } = post
  return follow(
    {
      scope,
      first,
      resumes: post.isStateless ? 'never' : 'with id',
      open: lastEventId => endpoint.get(lastEventId, scope.next()),
      event: event => {
        const room = replies.takeEvent(post, event)
        if (post.isSettled) scope.cancelAfter(settings.closeTimeoutMs)
        return room
      },
      isComplete: () => post.isSettled,
    },
    settings,
  )
}

async function inTime<T>(
  { scope }: PendingPost,
  { clock, bodyTimeoutMs }: HttpEndpoint['settings'],
  coming: Promise<T>,
): Promise<T> {
  const late = new ChannelError('timeout', 'the response body took too long')
  let isLate = false
  const timer = clock.start(() => {
    isLate = true
    scope.abortCurrent(late)
  }, bodyTimeoutMs)
  try {
    return await coming
  } catch (error) {
    throw isLate ? late : error
  } finally {
    clock.stop(timer)
  }
}
