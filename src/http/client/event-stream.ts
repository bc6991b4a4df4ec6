import { ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import { type IncomingEvent, SseReader } from '../../wire/sse.ts'
import type { CancelScope } from './cancel-scope.ts'
import { isTemporaryStatus, statusError } from './errors.ts'
import type { HttpSettings } from './options.ts'
import { type HttpResponse, mediaType } from './transport/http-client.ts'

/** An event stream that is followed over any number of connections. */
export interface FollowedStream {
  readonly scope: CancelScope
  /** The first response, if the stream is open already. */
  readonly first?: HttpResponse
  /** Whether the stream is reopened only after an event with an id, never, or always. */
  readonly resumes: 'with id' | 'never' | 'always'
  /** Requests the events after this one, or all of them if the id is empty. */
  open(lastEventId: string): Promise<HttpResponse>
  /** Called with each event that has data. A returned promise pauses the reading until it settles. */
  event(event: IncomingEvent): void | Promise<void>
  /** Whether nothing more is expected on the stream. */
  isComplete(): boolean
  /** Whether to go on trying to reopen the stream after the last attempt. */
  persists?(): boolean
}

/** How following an event stream ended. */
export type StreamEnd =
  | { readonly type: 'complete' }
  /** The server does not open or reopen the stream. The body of its response has not been read. */
  | { readonly type: 'refused'; readonly response: HttpResponse }
  /**
   * The stream broke off for good, with the last failure as cause. `wasOpen` says whether it ever was
   * open.
   */
  | { readonly type: 'lost'; readonly cause: unknown; readonly wasOpen: boolean }

/**
 * Reads an event stream to its end and reopens it where it breaks off: after the delay that the server
 * asks for, or else after a growing one, for at most `retry.attempts` times in a row. Rejects with a
 * ChannelError `'too-large'` for an event over the limit.
 */
export async function follow(followed: FollowedStream, settings: HttpSettings): Promise<StreamEnd> {
  const { scope } = followed
  const { retry } = settings
  const state: StreamState = { lastEventId: '', retryMs: undefined, cause: undefined }
  let response = followed.first
  let wasOpen = response !== undefined
  let attempts = 0
  for (;;) {
    response ??= await opened(followed, state)
    if (response !== undefined && !isEventStream(response)) {
      // 409 means that a stream is open already: the server may not have noticed yet that it broke
      // off.
      if (!isTemporaryStatus(response.status) && response.status !== 409)
        return { type: 'refused', response }
      state.cause = statusError('the event stream', response)
      response.discard()
    } else if (response !== undefined) {
      wasOpen = true
      if (await readEvents(response, followed, state, settings)) attempts = 0
    }
    response = undefined
    if (followed.isComplete() || scope.isCancelled) return { type: 'complete' }
    const canResume = followed.resumes === 'always' || state.lastEventId !== ''
    const isLastAttempt = attempts >= retry.attempts && followed.persists?.() !== true
    if (followed.resumes === 'never' || !canResume || isLastAttempt) {
      return { type: 'lost', cause: state.cause, wasOpen }
    }
    await scope.wait(waitMs(attempts++, state.retryMs, settings))
    if (followed.isComplete() || scope.isCancelled) return { type: 'complete' }
  }
}

/** Whether a response is an event stream. */
export function isEventStream(response: HttpResponse): boolean {
  return response.status === 200 && mediaType(response) === 'text/event-stream'
}

interface StreamState {
  lastEventId: string
  retryMs: number | undefined
  /** The last failure; undefined after an orderly end. */
  cause: unknown
}

async function opened(
  followed: FollowedStream,
  state: StreamState,
): Promise<HttpResponse | undefined> {
  try {
    return await followed.open(state.lastEventId)
  } catch (error) {
    state.cause = error
    return undefined
  }
}

/** Reads one connection to its end. Returns whether anything was received on it. */
async function readEvents(
  response: HttpResponse,
  followed: FollowedStream,
  state: StreamState,
  { eventRules }: HttpSettings,
): Promise<boolean> {
  let room: void | Promise<void>
  let isTooLarge = false
  const reader = new SseReader(
    {
      event: event => {
        const wait = event.data === '' ? undefined : followed.event(event)
        if (wait !== undefined) room = wait
      },
      retry: ms => {
        state.retryMs = ms
      },
      oversize: () => {
        isTooLarge = true
        response.discard()
      },
    },
    eventRules.maxBytes,
  )
  let hasCome = false
  state.cause = undefined
  try {
    await response.each(piece => {
      hasCome = true
      room = undefined
      reader.push(piece)
      if (reader.lastEventId !== '') state.lastEventId = reader.lastEventId
      return room
    })
  } catch (error) {
    state.cause = error
  }
  if (!isTooLarge) return hasCome
  throw new ChannelError('too-large', `an event of more than ${eventRules.maxBytes} bytes`)
}

function waitMs(attempt: number, requestedMs: number | undefined, { retry }: HttpSettings): number {
  const { baseMs, maxMs, random } = retry
  if (requestedMs !== undefined) {
    return Math.min(Math.max(requestedMs, limits.streamRetryMinMs.default), maxMs)
  }
  return backoffMs(attempt, { baseMs, maxMs, random, jitter: 0.5 })
}
