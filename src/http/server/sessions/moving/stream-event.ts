import { isRecord } from '../../../../util/objects.ts'

/** The stream of a POST has begun. */
export interface StreamOpened {
  readonly type: 'open'
  readonly stream: number
  /** The ids of the requests that the stream answers, each as JSON text. */
  readonly requests: readonly string[]
}

/** An event was added to a stream. */
export interface StreamMessage {
  readonly type: 'event'
  readonly stream: number
  /** The epoch of the process that has added the event. */
  readonly epoch: number
  /** The number of the event in its stream. It grows, but not always by 1. */
  readonly sequence: number
  /** The number of the event before it that was reported; 0 for the first. */
  readonly before: number
  /** The message as JSON text. */
  readonly data: string
  /** Whether the event was written to a connection when it was added. */
  readonly isSent: boolean
  /** Whether the stream has ended with this event. */
  readonly isLast: boolean
}

/** A connection has got the events up to one that was added before the connection began. */
export interface StreamSent {
  readonly type: 'sent'
  readonly stream: number
  readonly sequence: number
}

/** A stream has ended without a reply, because its requests were cancelled. */
export interface StreamEnded {
  readonly type: 'end'
  readonly stream: number
}

/**
 * What happens on the streams of a session, for a process that continues it. Plain JSON. The stream 0 is the
 * standalone stream; all others are those of POSTs. Notifications of changed lists and resources are not reported,
 * because the process after sends them anyway.
 */
export type StreamEvent = StreamOpened | StreamMessage | StreamSent | StreamEnded

/** A stream as a process that continues its session finds it. */
export interface RestoredStream {
  readonly key: number
  /** The ids of its requests, each as JSON text. */
  requests: readonly string[]
  /** Its events, the oldest first. */
  readonly events: StreamMessage[]
  /** The number of the last event of each epoch, in their order. */
  readonly ends: EpochEnd[]
  /** The number of the event that a connection got last. */
  sent: number
  isEnded: boolean
}

/** The number of the last event of an epoch. */
export interface EpochEnd {
  readonly epoch: number
  end: number
}

/** The streams of a session that is restored, by key. */
export type RestoredStreams = ReadonlyMap<number, RestoredStream>

/**
 * Returns the streams of a session from what was reported of them, in the order in which it was. Ignores what
 * is not a StreamEvent, and events of a process that has reported them after its successor has begun.
 */
export function restoredStreams(events: Iterable<unknown>): RestoredStreams {
  const streams = new Map<number, RestoredStream>()
  for (const event of events) {
    if (!isStreamEvent(event)) continue
    const { stream: key } = event
    const found = streams.get(key)
    const stream = found ?? { key, requests: [], events: [], ends: [], sent: 0, isEnded: false }
    if (found === undefined) streams.set(key, stream)
    switch (event.type) {
      case 'open':
        stream.requests = event.requests
        break
      case 'event':
        addEvent(stream, event)
        break
      case 'sent':
        stream.sent = Math.max(stream.sent, event.sequence)
        break
      case 'end':
        stream.isEnded = true
    }
  }
  // What was not reported was sent for nothing: its numbers are used again.
  for (const stream of streams.values()) {
    stream.sent = Math.min(stream.sent, stream.ends.at(-1)?.end ?? 0)
  }
  return streams
}

/** Returns the greatest epoch of the events of some streams; 0 without events. */
export function latestEpoch(streams: RestoredStreams): number {
  return Math.max(0, ...Array.from(streams.values(), ({ ends }) => ends.at(-1)?.epoch ?? 0))
}

function addEvent(stream: RestoredStream, event: StreamMessage): void {
  const { epoch, sequence } = event
  const newest = stream.ends.at(-1)
  if (newest !== undefined && (epoch < newest.epoch || sequence <= newest.end)) return
  if (newest?.epoch === epoch) newest.end = sequence
  else stream.ends.push({ epoch, end: sequence })
  stream.events.push(event)
  if (event.isSent) stream.sent = Math.max(stream.sent, sequence)
  if (event.isLast) stream.isEnded = true
}

function isStreamEvent(value: unknown): value is StreamEvent {
  if (!isRecord(value) || !isCount(value.stream)) return false
  switch (value.type) {
    case 'open':
      return Array.isArray(value.requests) && value.requests.every(id => typeof id === 'string')
    case 'event':
      return (
        isCount(value.epoch) &&
        isCount(value.sequence) &&
        isCount(value.before) &&
        typeof value.data === 'string'
      )
    case 'sent':
      return isCount(value.sequence)
    default:
      return value.type === 'end'
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
