import { type Client, openClient } from '../../client/client.ts'
import type { ClientOptions } from '../../client/options.ts'
import type { Channel } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { ElicitResult } from '../../mcp/types/elicitation.ts'
import type { SampleResult } from '../../mcp/types/sampling.ts'
import type { Router } from '../../router/router.ts'
import { memoryPair } from '../../transport/memory.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { version } from '../../util/version.ts'
import { ownClientName } from '../feed/call-rows.ts'
import { ApiError } from '../http/api.ts'
import type {
  AnswerRequest,
  CompleteRequest,
  PlayFrame,
  PlayLists,
  PlayMessage,
  RunRequest,
} from '../wire-play.ts'
import { playLists } from './lists.ts'
import { Questions } from './questions.ts'
import { PlayRun } from './run.ts'
import { sendRun } from './send-run.ts'

/**
 * The playground of one page: clients of the router in this process, the calls they make, and the server requests that
 * wait for the person. Everything is forgotten when it is closed.
 */
export class Player {
  readonly #router: Router
  /** The clients by revision, opened on first use. */
  readonly #clients = new Map<string, Promise<Client>>()
  readonly #runs = new Map<string, PlayRun>()
  readonly #questions: Questions
  readonly #onReady: () => void
  #messages: PlayMessage[] = []
  #messagesLeft = 0
  #hasNewQuestions = false

  /** `onReady` is called when a call has ended or a question has come or gone: the page should be told at once. */
  constructor(router: Router, onReady: () => void) {
    this.#router = router
    this.#onReady = onReady
    this.#questions = new Questions(() => {
      this.#hasNewQuestions = true
      for (const run of this.#runs.values()) run.suspend(this.#questions.size > 0)
      onReady()
    })
  }

  /** Reads what callers see. */
  async lists(): Promise<PlayLists> {
    const revisions = this.#router.revisions.map(({ name }) => name).reverse()
    return { revisions, ...(await playLists(await this.#client(undefined))) }
  }

  /** Makes a call and returns its id. Throws an ApiError 503 if too many are in flight. */
  run({ revision, timeoutMs = limits.consoleRunMs.default, ...request }: RunRequest): string {
    if (this.#runs.size >= limits.consoleRuns.default) {
      const message = `${limits.consoleRuns.default} calls are in flight already; cancel one`
      throw new ApiError(503, 'too_many_runs', message)
    }
    const run = new PlayRun({
      timeoutMs,
      send: async (signal, onProgress) =>
        sendRun(await this.#client(revision), this.#router, request, { signal, onProgress }),
      onEnd: this.#onReady,
    })
    if (this.#questions.size > 0) run.suspend(true)
    this.#runs.set(run.id, run)
    return run.id
  }

  /** Cancels a call. Returns false if it has ended already. */
  cancel(id: string): boolean {
    const run = this.#runs.get(id)
    run?.cancel('cancelled by the person at the page')
    return run !== undefined
  }

  /** Answers a server request. Returns false if it does not wait any more. */
  answer(id: string, answer: AnswerRequest): boolean {
    return this.#questions.answer(id, answer)
  }

  /** Returns completions for an argument. */
  async complete({ prompt, template, argument, value, context }: CompleteRequest): Promise<{
    readonly values: readonly string[]
    readonly hasMore: boolean
  }> {
    const client = await this.#client(undefined)
    const of = prompt === undefined ? { resource: template ?? '' } : { prompt }
    const timeoutMs = limits.consoleRunMs.default
    const { values, hasMore } = await client.complete(of, argument, value, context, { timeoutMs })
    return { values, hasMore: hasMore === true }
  }

  /** Returns the first frame of a stream: what the page may have missed, and the calls in flight. */
  first(): PlayFrame {
    this.#hasNewQuestions = true
    const inFlight = [...this.#runs.keys()]
    return { ...nothing, ...this.take(), inFlight }
  }

  /** Returns what is new for the page; undefined if nothing is. Calls that have ended are forgotten then. */
  take(): PlayFrame | undefined {
    const runs = [...this.#runs.values()].flatMap(run => {
      const update = run.take()
      if (run.isEnded) this.#runs.delete(run.id)
      return update === undefined ? [] : [update]
    })
    const [messages, messagesLeft] = [this.#messages, this.#messagesLeft]
    if (runs.length === 0 && messages.length === 0 && !this.#hasNewQuestions) return undefined
    this.#messages = []
    this.#messagesLeft = 0
    this.#hasNewQuestions = false
    return { event: 'play', runs, questions: this.#questions.list(), messages, messagesLeft }
  }

  /** Cancels the calls, answers the questions with `cancel`, and closes the clients. */
  async close(): Promise<void> {
    for (const run of this.#runs.values()) run.cancel('the page was left')
    this.#runs.clear()
    this.#questions.close()
    this.#messages = []
    const clients = [...this.#clients.values()]
    this.#clients.clear()
    await Promise.allSettled(clients.map(async client => (await client).close()))
  }

  #client(revision: string | undefined): Promise<Client> {
    const chosen = this.#router.revisions.find(({ name }) => name === revision)
    if (revision !== undefined && chosen === undefined) {
      const known = this.#router.revisions.map(({ name }) => name).join(', ')
      const message = `the router does not serve the revision "${revision}"; it serves ${known}`
      throw new ApiError(400, 'bad_revision', message)
    }
    const key = revision ?? ''
    const known = this.#clients.get(key)
    if (known !== undefined) return known
    const opening = this.#open(chosen && [chosen])
    this.#clients.set(key, opening)
    opening.catch(() => this.#clients.delete(key))
    return opening
  }

  async #open(revisions: ClientOptions['revisions']): Promise<Client> {
    const dial = async (): Promise<Channel> => {
      const [near, far] = memoryPair()
      this.#router.attach(far, { transport: { name: 'memory' } })
      return near
    }
    const client = await openClient(dial, this.#clientOptions(revisions))
    // A server without log messages refuses, and has none to show.
    await client.setLogLevel('info').catch(() => {})
    return client
  }

  #clientOptions(revisions: ClientOptions['revisions']): ClientOptions {
    return {
      name: ownClientName,
      version,
      ...(revisions && { revisions }),
      elicit: {
        form: async (params, { signal, server }) => {
          const answer = await this.#questions.ask({ kind: 'form', params, server }, signal)
          if (answer.action !== 'accept') return { action: answer.action }
          // The check: the server checks the members against the schema of its form.
          const content = (isRecord(answer.content) ? answer.content : {}) as FormContent
          return { action: 'accept', content }
        },
        url: async (params, { signal, server }) => {
          const { action } = await this.#questions.ask({ kind: 'url', params, server }, signal)
          return { action }
        },
      },
      sample: async (params, { signal, server }) => {
        const answer = await this.#questions.ask({ kind: 'sample', params, server }, signal)
        if (answer.action === 'accept') return sampleResult(String(answer.content))
        throw new RpcError(-1, 'The person at the playground did not answer the sampling request')
      },
      onNotification: (method, params) => this.#onNotification(method, params),
      // Errors of calls are shown by the page; nothing else is of interest.
      onError: () => {},
    }
  }

  #onNotification(method: string, params: Members | undefined): void {
    // The page has the progress of its calls already.
    if (method === 'notifications/progress') return
    if (this.#messages.length >= limits.consoleMessages.default) {
      this.#messagesLeft++
      return
    }
    const text = JSON.stringify(params ?? {}).slice(0, limits.consoleTextLength.default)
    this.#messages.push({ at: Date.now(), method, text })
  }
}

const nothing: PlayFrame = { event: 'play', runs: [], questions: [], messages: [], messagesLeft: 0 }

type FormContent = NonNullable<ElicitResult['content']>

function sampleResult(text: string): SampleResult {
  return {
    role: 'assistant',
    content: { type: 'text', text },
    model: 'a person at the console',
    stopReason: 'endTurn',
  }
}
