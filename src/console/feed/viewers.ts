import type { EventStream, HttpReply } from '../../http/exchange.ts'
import { limits } from '../../util/limits/limits.ts'
import { ApiError } from '../http/api.ts'
import type { Playground } from '../play/playground.ts'
import type { ConsoleFrame, ServerRow } from '../wire.ts'
import type { Feeds } from './feeds.ts'

/** What a page can ask for besides servers, figures and changes. */
const topics = ['calls', 'log', 'play'] as const
type Topic = (typeof topics)[number]

/** A page that receives data. */
interface Viewer {
  readonly reply: HttpReply
  readonly stream: EventStream
  readonly topics: ReadonlySet<Topic>
  /** The token of a page with a playground; undefined without one, or when another stream of the page has it. */
  page: string | undefined
  /** The server rows that the page has, as JSON by name. */
  servers: ReadonlyMap<string, string>
  figures: number
  changes: number
  log: number
  /** Whether the page shows that calls are recorded. */
  isRecording: boolean
  /** Since when the page reads too slowly; undefined if it keeps up. */
  stalledSince: number | undefined
  /** Frames that were left out since then. */
  skipped: number
  aliveAt: number
}

/** Sends frames to the pages, four times a second, as long as there are pages. */
export class Viewers {
  readonly #feeds: Feeds
  readonly #playground: Playground
  readonly #viewers = new Set<Viewer>()
  #timer: NodeJS.Timeout | undefined
  /** Stops collecting calls some time after the last page that shows them. */
  #lingering: NodeJS.Timeout | undefined
  #ticks = 0

  constructor(feeds: Feeds, playground: Playground) {
    this.#feeds = feeds
    this.#playground = playground
    playground.onReady = page => this.#sendPlay(page)
  }

  get count(): number {
    return this.#viewers.size
  }

  /** Opens a stream. Throws an ApiError 503 if too many are open, and 400 for an unknown topic or a bad page. */
  open(query: URLSearchParams, reply: HttpReply, headers: Readonly<Record<string, string>>): void {
    if (this.#viewers.size >= limits.consoleViewers.default) {
      const most = limits.consoleViewers.default
      throw new ApiError(503, 'too_many_viewers', `${most} pages are open already; close one`)
    }
    const chosen = topicsOf(query.get('topics'))
    const page = chosen.has('play') ? this.#join(query.get('page') ?? '') : undefined
    const feeds = this.#feeds
    const viewer: Viewer = {
      reply,
      stream: reply.stream(headers),
      topics: chosen,
      page,
      servers: new Map(),
      figures: feeds.figures?.count ?? 0,
      changes: 0,
      log: 0,
      isRecording: false,
      stalledSince: undefined,
      skipped: 0,
      aliveAt: performance.now(),
    }
    reply.onDisconnect(() => this.#remove(viewer))
    this.#viewers.add(viewer)
    if (chosen.has('calls')) this.#collect()
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.tick(), limits.consoleFrameMs.default)
      this.#timer.unref()
    }
    this.#send(viewer, feeds.hello())
    if (chosen.has('calls')) {
      const rows = feeds.calls.list()
      this.#send(viewer, { event: 'calls', rows, left: [], inFlight: 0 })
    }
    if (page !== undefined) this.#send(viewer, this.#playground.first(page))
    this.#frames(viewer, this.#rows(), true)
  }

  /** Sends what is new to every page. */
  tick(): void {
    this.#ticks++
    const now = performance.now()
    for (const viewer of this.#viewers) {
      const { reply, stream, stalledSince } = viewer
      const isStalled =
        stalledSince !== undefined && now - stalledSince > limits.consoleStalledMs.default
      if (isStalled) stream.end()
      if (reply.isFinished || isStalled) this.#remove(viewer)
    }
    const calls = this.#feeds.calls.isCollecting ? this.#feeds.calls.frame() : undefined
    if (this.#viewers.size === 0) return
    // Servers change less often than calls, and looking at all of them costs more.
    const isWhole = this.#ticks % 4 === 0
    const rows = isWhole ? this.#rows() : undefined
    for (const viewer of this.#viewers) {
      if (viewer.stalledSince !== undefined) {
        viewer.skipped++
        continue
      }
      if (calls !== undefined && viewer.topics.has('calls')) {
        this.#send(viewer, { event: 'calls', ...calls })
      }
      this.#frames(viewer, rows, false)
      if (viewer.page !== undefined) this.#sendPlay(viewer.page)
      if (now - viewer.aliveAt > limits.consoleAliveMs.default) {
        viewer.aliveAt = now
        this.#write(viewer, ': alive\n\n')
      }
    }
  }

  /** Ends all streams. Idempotent. */
  close(): void {
    for (const viewer of [...this.#viewers]) {
      viewer.stream.end()
      this.#remove(viewer)
    }
    clearTimeout(this.#lingering)
    this.#feeds.calls.stop()
  }

  /** Returns the servers, after reading their error output if a page shows it. */
  #rows(): readonly ServerRow[] {
    const hasLog = Array.from(this.#viewers).some(viewer => viewer.topics.has('log'))
    return this.#feeds.servers(hasLog)
  }

  #frames(viewer: Viewer, rows: readonly ServerRow[] | undefined, isFirst: boolean): void {
    const { figures, changes, logs } = this.#feeds
    if (rows !== undefined) this.#sendServers(viewer, rows, isFirst)
    const { leftMs } = this.#feeds.recorder
    if (leftMs > 0 !== viewer.isRecording) {
      viewer.isRecording = leftMs > 0
      this.#send(viewer, { event: 'recording', leftMs })
    }
    if (changes.count > viewer.changes) {
      this.#send(viewer, { event: 'changes', rows: changes.after(viewer.changes) })
      viewer.changes = changes.count
    }
    if (figures !== undefined && figures.count > viewer.figures) {
      this.#send(viewer, { event: 'figures', points: figures.after(viewer.figures) })
      viewer.figures = figures.count
    }
    if (viewer.topics.has('log') && logs.count > viewer.log) {
      const lines = logs.after(viewer.log)
      const shown = isFirst ? lines : lines.slice(-limits.consoleFrameLines.default)
      const left = logs.count - viewer.log - shown.length
      this.#send(viewer, { event: 'log', rows: shown, left: isFirst ? 0 : left })
      viewer.log = logs.count
    }
  }

  /** Sends the rows that differ from those that the page has; all of them if servers came, went or moved. */
  #sendServers(viewer: Viewer, rows: readonly ServerRow[], isFirst: boolean): void {
    const next = new Map(rows.map(row => [row.name, JSON.stringify(row)]))
    const isSame = isFirst
      ? false
      : [...next.keys()].join('\n') === [...viewer.servers.keys()].join('\n')
    const servers = isSame
      ? rows.filter(({ name }) => next.get(name) !== viewer.servers.get(name))
      : rows
    viewer.servers = next
    if (servers.length === 0 && isSame) return
    this.#send(viewer, { event: 'fleet', servers, isWhole: !isSame })
  }

  #send(viewer: Viewer, frame: ConsoleFrame): void {
    this.#write(viewer, `data: ${JSON.stringify(frame)}\n\n`)
  }

  #write(viewer: Viewer, text: string): void {
    const room = viewer.stream.write(text)
    if (room === undefined) return
    viewer.stalledSince ??= performance.now()
    void room.then(() => {
      viewer.stalledSince = undefined
      const { skipped: frames } = viewer
      viewer.skipped = 0
      if (frames > 0) this.#send(viewer, { event: 'gap', frames })
    })
  }

  /** Makes the stream that is being opened the only one that gets the frames of a playground. */
  #join(page: string): string {
    this.#playground.join(page)
    for (const viewer of this.#viewers) if (viewer.page === page) this.#leave(viewer)
    return page
  }

  #leave(viewer: Viewer): void {
    if (viewer.page !== undefined) this.#playground.leave(viewer.page)
    viewer.page = undefined
  }

  /** Sends what is new to the page of a playground, unless it reads too slowly: then it is kept. */
  #sendPlay(page: string): void {
    for (const viewer of this.#viewers) {
      if (viewer.page !== page || viewer.stalledSince !== undefined) continue
      const frame = this.#playground.take(page)
      if (frame !== undefined) this.#send(viewer, frame)
    }
  }

  #remove(viewer: Viewer): void {
    if (!this.#viewers.delete(viewer)) return
    this.#leave(viewer)
    const hasCalls = Array.from(this.#viewers).some(each => each.topics.has('calls'))
    if (viewer.topics.has('calls') && !hasCalls) this.#linger()
    if (this.#viewers.size > 0 || this.#lingering !== undefined) return
    this.#rest()
  }

  #collect(): void {
    clearTimeout(this.#lingering)
    this.#lingering = undefined
    this.#feeds.calls.start()
  }

  #linger(): void {
    clearTimeout(this.#lingering)
    this.#lingering = setTimeout(() => {
      this.#lingering = undefined
      this.#feeds.calls.stop()
      if (this.#viewers.size === 0) this.#rest()
    }, limits.consoleLingerMs.default)
    this.#lingering.unref()
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    // Nobody sees any more that calls are recorded.
    this.#feeds.recorder.close()
  }
}

function topicsOf(wanted: string | null): ReadonlySet<Topic> {
  const names = (wanted ?? '').split(',').filter(name => name !== '')
  return new Set(
    names.map(name => {
      const topic = topics.find(each => each === name)
      if (topic !== undefined) return topic
      const known = topics.join(', ')
      throw new ApiError(400, 'bad_topic', `there is no topic "${name}"; the topics are ${known}`)
    }),
  )
}
