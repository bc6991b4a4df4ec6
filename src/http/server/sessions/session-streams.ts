import type { TransportInfo } from '../../../jsonrpc/channel.ts'
import type { Message } from '../../../jsonrpc/message.ts'
import { changedList } from '../../../mcp/list-changes.ts'
import { canonicalNotification } from '../../../mcp/names.ts'
import type { HttpReply } from '../../exchange.ts'
import { refusal, refuse } from '../responses.ts'
import type { OpenStreams } from '../sse-keep-alive.ts'
import type { EventIds } from './event-ids.ts'
import type { EventLog } from './event-log.ts'
import type { RestoredStream, StreamEvent } from './moving/stream-event.ts'
import type { Post } from './posts.ts'
import { ResumableStream, type StreamHost } from './resumable-stream.ts'

/** The key of the standalone stream. */
const STANDALONE = 0

/** The event streams of one session: the standalone stream, and those of its POSTs. */
export class SessionStreams implements StreamHost, TransportInfo {
  readonly log: EventLog
  readonly streams: OpenStreams
  readonly ids: EventIds | undefined
  readonly onActivity: () => void
  /** Set after `initialize`. */
  canPoll = false
  report: ((event: StreamEvent) => void) | undefined
  readonly standalone: ResumableStream
  /** The resumable streams of POSTs, by their keys. */
  #ofPosts: Map<number, ResumableStream> | undefined

  constructor(
    { log, streams }: Pick<StreamHost, 'log' | 'streams'>,
    ids: EventIds | undefined,
    onActivity: () => void,
  ) {
    this.log = log
    this.streams = streams
    this.ids = ids
    this.onActivity = onActivity
    this.standalone = new ResumableStream(STANDALONE, this, { buffersUntilConnected: true })
  }

  get name(): string {
    return 'http'
  }

  get openStreams(): number {
    const streams = [this.standalone, ...(this.#ofPosts?.values() ?? [])]
    return streams.filter(({ isConnected }) => isConnected).length
  }

  /** Opens the stream of a POST. */
  readonly openFor = (post: Post): ResumableStream => {
    if (this.ids !== undefined) {
      this.report?.({ type: 'open', stream: post.key, requests: post.requestIds() })
    }
    return this.#add(post.key)
  }

  /** Writes a message that belongs to no POST, which is encoded as `data`. */
  writeStandalone(message: Message, data: string): void | Promise<void> {
    const isReported = this.report === undefined || !isChangeNotice(message)
    return this.standalone.write(data, isReported)
  }

  /**
   * Resumes a stream after an event. Responds 400 for an event that was never sent or is not kept any more. Returns
   * whether the standalone stream was resumed.
   */
  resume(last: string, reply: HttpReply): boolean {
    const position = this.ids?.parse(last)
    const stream =
      position?.stream === STANDALONE
        ? this.standalone
        : this.#ofPosts?.get(position?.stream ?? STANDALONE)
    const sequence = position && stream?.numberOf(position)
    if (sequence !== undefined && stream?.canResumeFrom(sequence)) {
      stream.resume(reply, sequence)
      return stream === this.standalone
    }
    // Not 404, which would mean that the session has ended.
    const message = 'The event is unknown in this session, or not kept any more'
    refuse(reply, refusal(400, -32000, message))
    return false
  }

  /** Continues the streams of another process. Returns those of POSTs whose replies are missing. */
  restore(restored: Iterable<RestoredStream>): readonly LostReplies[] {
    const lost: LostReplies[] = []
    let hasStandalone = false
    for (const its of restored) {
      const { key, requests, isEnded, events } = its
      if (key === STANDALONE) {
        hasStandalone = true
        this.standalone.restore({ ...its, isEnded: false })
      } else if (!isEnded || events.length > 0) {
        const stream = this.#add(key)
        stream.restore(its)
        if (!isEnded) lost.push({ stream, requests })
      }
    }
    if (!hasStandalone) this.standalone.restore({ ...nothing, key: STANDALONE })
    return lost
  }

  /** Returns the events that are kept, for a process that continues the session. */
  kept(): readonly StreamEvent[] {
    const { ids } = this
    if (ids === undefined) return []
    const streams = [this.standalone, ...(this.#ofPosts?.values() ?? [])]
    return streams.flatMap(stream => stream.kept(ids.epoch))
  }

  /** Ends all streams and drops their events. */
  discard(): void {
    for (const stream of [...(this.#ofPosts?.values() ?? []), this.standalone]) stream.discard()
  }

  onReleased(stream: ResumableStream): void {
    this.#ofPosts?.delete(stream.key)
  }

  #add(key: number): ResumableStream {
    const stream = new ResumableStream(key, this)
    this.#ofPosts ??= new Map()
    this.#ofPosts.set(key, stream)
    return stream
  }
}

/** The stream of a POST whose requests have got no reply. */
export interface LostReplies {
  readonly stream: ResumableStream
  /** The ids of the requests, each as JSON text. */
  readonly requests: readonly string[]
}

const nothing: Omit<RestoredStream, 'key'> = {
  requests: [],
  events: [],
  ends: [],
  sent: 0,
  isEnded: false,
}

/** Whether a message says only that a list or a resource has changed. */
function isChangeNotice(message: Message): boolean {
  if (message.type !== 'notification') return false
  const method = canonicalNotification(message.method)
  return method === 'notifications/resources/updated' || changedList(method) !== undefined
}
