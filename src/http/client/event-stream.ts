import { ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { type IncomingEvent, SseReader } from '../../wire/sse.ts'
import type { Leash } from './cancel-scope.ts'
import { isOutage, refusal } from './errors.ts'
import type { HttpSettings } from './options.ts'
import { type Answer, mediaType } from './transport/http-client.ts'

/** An event stream that is followed over as many connections as it takes. */
export interface Followed {
  readonly leash: Leash
  /** The stream that is there already. */
  readonly first?: Answer
  /** Whether it is opened again only after an event that had an id, or never, or in any case. */
  readonly resumes: 'with id' | 'never' | 'always'
  /** Asks for what follows the event of this id, or for everything where it is empty. */
  open(lastEventId: string): Promise<Answer>
  /** One event that has data. A returned promise asks to stop reading until it settles. */
  event(event: IncomingEvent): void | Promise<void>
  /** Whether nothing more is expected of it. */
  isOver(): boolean
}

/** How following an event stream ended. */
export type StreamEnd =
  | { readonly type: 'over' }
  /** The server does not open it, or not again; its answer has not been read. */
  | { readonly type: 'refused'; readonly answer: Answer }
  /** It broke off for good, with what went wrong last; `wasOpen` if it ever was a stream. */
  | { readonly type: 'lost'; readonly cause: unknown; readonly wasOpen: boolean }

/**
 * Reads an event stream to its end, and over breaks where it can be opened again: after the wait its
 * server asks for, or one that grows, so often in a row and no oftener. Rejects with a ChannelError
 * `'too-large'` for an event over the limit.
 */
export async function follow(followed: Followed, settings: HttpSettings): Promise<StreamEnd> {
  const { leash } = followed
  const { retry } = settings
  const state: StreamState = { lastEventId: '', retryMs: undefined, cause: undefined }
  let answer = followed.first
  let wasOpen = answer !== undefined
  let attempts = 0
  for (;;) {
    answer ??= await opened(followed, state)
    if (answer !== undefined && !isEventStream(answer)) {
      // One stream too many is one too many for now: the one that broke off may still be there.
      if (!isOutage(answer.status) && answer.status !== 409) return { type: 'refused', answer }
      state.cause = refusal('the event stream', answer)
      answer.drop()
    } else if (answer !== undefined) {
      wasOpen = true
      if (await readEvents(answer, followed, state, settings)) attempts = 0
    }
    answer = undefined
    if (followed.isOver() || leash.isCut) return { type: 'over' }
    const canResume = followed.resumes === 'always' || state.lastEventId !== ''
    if (followed.resumes === 'never' || !canResume || attempts >= retry.attempts) {
      return { type: 'lost', cause: state.cause, wasOpen }
    }
    await leash.wait(waitMs(attempts++, state.retryMs, settings))
    if (followed.isOver() || leash.isCut) return { type: 'over' }
  }
}

/** Whether an answer is an event stream. */
export function isEventStream(answer: Answer): boolean {
  return answer.status === 200 && mediaType(answer) === 'text/event-stream'
}

interface StreamState {
  lastEventId: string
  retryMs: number | undefined
  /** What went wrong last; undefined after a good end. */
  cause: unknown
}

async function opened(followed: Followed, state: StreamState): Promise<Answer | undefined> {
  try {
    return await followed.open(state.lastEventId)
  } catch (error) {
    state.cause = error
    return undefined
  }
}

/** Reads one connection to its end; returns whether anything came on it. */
async function readEvents(
  answer: Answer,
  followed: Followed,
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
        answer.drop()
      },
    },
    eventRules.maxBytes,
  )
  let hasCome = false
  state.cause = undefined
  try {
    await answer.each(piece => {
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

function waitMs(attempt: number, asked: number | undefined, { retry }: HttpSettings): number {
  const { baseMs, maxMs, random } = retry
  if (asked !== undefined) {
    return Math.min(Math.max(asked, limits.streamRetryMinMs.default), maxMs)
  }
  // Not all at once: those who lost the same server would return together.
  return Math.min(maxMs, baseMs * 2 ** attempt) * (0.5 + random() / 2)
}
