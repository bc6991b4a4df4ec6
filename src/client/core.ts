import type { LogLevel } from '../mcp/types/base.ts'
import { ResponseCache } from './cache.ts'
import { Listens } from './changes/listen.ts'
import type { LinkHost } from './connection/connection.ts'
import { Heartbeat } from './connection/heartbeat.ts'
import { type Dial, type Opened, open } from './connection/negotiate.ts'
import type { Seams } from './connection/proxy-hooks.ts'
import { Lifeline } from './connection/reconnect.ts'
import type { ClientOptions } from './options.ts'
import { answerAll } from './requests/input-rounds.ts'
import { OutputSchemas } from './requests/output-schemas.ts'
import { ProgressBoard } from './requests/progress.ts'
import { Requests } from './requests/requests.ts'
import { Answerer } from './server-requests/handlers.ts'
import { Inbox } from './server-requests/incoming.ts'
import { AskedTasks } from './server-requests/tasks.ts'
import { type Settings, settingsOf } from './settings.ts'
import { Tasks } from './tasks/tasks.ts'

/** The parts of one client, put together. To be opened before anything else. */
export class Core {
  readonly settings: Settings
  readonly answerer: Answerer
  readonly progress: ProgressBoard
  readonly requests: Requests
  readonly listens: Listens
  readonly tasks: Tasks
  readonly outputs: OutputSchemas
  /** What logs are wanted: told once to a session, and with each request to a stateless server. */
  logLevel: LogLevel | undefined
  readonly #dial: Dial
  readonly #host: LinkHost
  readonly #cache: ResponseCache
  readonly #asked: AskedTasks
  readonly #heartbeat: Heartbeat
  #lifeline: Lifeline | undefined
  #isClosing = false

  /** Throws a TypeError for options that mean nothing. */
  constructor(dial: Dial, options: ClientOptions, seams?: Seams) {
    const settings = settingsOf(options)
    const progress = new ProgressBoard(settings.onError)
    this.settings = settings
    this.progress = progress
    this.answerer = new Answerer(options, seams)
    this.#dial = dial
    this.#asked = new AskedTasks(settings)
    this.#heartbeat = new Heartbeat(settings)
    this.#cache = new ResponseCache(settings.clock)
    this.outputs = new OutputSchemas(settings.onError)
    this.requests = this.#makeRequests(progress)
    this.listens = this.#makeListens()
    this.tasks = this.#makeTasks(options)
    const { answerer, requests, outputs, listens, tasks } = this
    const parts = { options, settings, answerer, requests, progress, outputs, listens, tasks }
    const inbox = new Inbox({ ...parts, cache: this.#cache, asked: this.#asked, seams })
    this.#host = {
      onRequest: (request, exchange, link) => inbox.onRequest(request, exchange, link),
      onNotification: (message, envelope, link) => inbox.onNotification(message, envelope, link),
      onEnded: (link, cause) => {
        this.#asked.forget(link)
        this.#lifeline?.onEnded(link, cause)
        seams?.onEnded?.(cause)
      },
      onLate: (id, result) => seams?.onLate?.(id, result),
    }
  }

  get lifeline(): Lifeline {
    if (this.#lifeline === undefined) throw new Error('the client has not been opened')
    return this.#lifeline
  }

  /** Connects for the first time, and from then on keeps the connection alive. */
  async open(signal?: AbortSignal): Promise<void> {
    const first = await this.#open(signal)
    const lifeline = new Lifeline(
      first,
      {
        open: gone => this.#open(gone),
        onReopened: opened => {
          this.#heartbeat.begin(opened)
          this.#onReopened()
        },
        onClosed: cause => {
          this.#heartbeat.end()
          this.listens.onClosed(cause)
        },
      },
      this.settings,
    )
    this.#lifeline = lifeline
    this.#heartbeat.begin(first)
    if (!first.link.isOpen) lifeline.onEnded(first.link, undefined)
  }

  /** Ends everything, streams of changes first. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.listens.onClosed()
    this.#asked.forget(this.lifeline.latest.link)
    await this.lifeline.close()
  }

  #open(signal: AbortSignal | undefined): Promise<Opened> {
    const capabilitiesOf = this.answerer.capabilities.bind(this.answerer)
    const { settings } = this
    return open({ dial: this.#dial, host: this.#host, settings, capabilitiesOf, signal })
  }

  #makeRequests(progress: ProgressBoard): Requests {
    return new Requests({
      settings: this.settings,
      answerer: this.answerer,
      progress,
      cache: this.#cache,
      lifeline: () => this.lifeline,
      logLevel: () => this.logLevel,
    })
  }

  #makeListens(): Listens {
    return new Listens({
      settings: this.settings,
      opened: async () => this.lifeline.ready(),
      isClosed: () => this.lifeline.isClosed,
      begin: (opened, method, params, how) => this.requests.begin(opened, method, params, how),
      // A session that is being closed need not be told what it is no longer to tell.
      request: async (method, params) =>
        this.#isClosing ? {} : this.requests.request(method, params),
    })
  }

  #makeTasks(options: ClientOptions): Tasks {
    const { settings, answerer, requests } = this
    return new Tasks({
      settings,
      isDeclared: options.tasks !== false,
      taskSupport: name => this.outputs.taskSupport(name),
      server: async () => (await this.lifeline.ready()).server,
      request: (method, params, how) => requests.request(method, params, how),
      answer: (questions, signal) => {
        const { revision } = this.lifeline.latest.server
        return answerAll('tasks/get', questions, { answerer, revision, signal })
      },
    })
  }

  #onReopened(): void {
    // What changed while nobody listened is not known.
    this.#cache.clear()
    this.outputs.forget()
    this.listens.onReopened()
    const { logLevel } = this
    if (logLevel === undefined || this.lifeline.latest.server.revision.era !== 'session') return
    this.requests
      .request('logging/setLevel', { level: logLevel })
      .then(undefined, error => this.settings.onError(error))
  }
}
