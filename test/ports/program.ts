import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { expect } from 'vitest'

/** A message as it crosses the wire, parsed. */
export type WireMessage = Readonly<Record<string, unknown>>

/** Answers the requests of a server, by method. */
export type Answers = Readonly<Record<string, (params: WireMessage) => WireMessage>>

/** How to start a server, and the client that it talks to. */
export interface ProgramOptions {
  /** The program and its arguments. */
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** What the client declares in `initialize`. */
  readonly capabilities?: WireMessage
  readonly answers?: Answers
  /** What differs between two programs, such as the path of a folder, by the word for it in messages. */
  readonly words?: Readonly<Record<string, string>>
}

/** What a request leads to: the response, and what the server sends by itself until it answers a ping. */
export interface Outcome {
  readonly response: WireMessage
  readonly sent: readonly WireMessage[]
}

/** A server on stdio. Sends and receives messages as they are, without a client library in between. */
export class Program {
  /** The requests and notifications of the server, without the ids of requests. */
  readonly received: WireMessage[] = []
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #options: ProgramOptions
  readonly #waiting = new Map<unknown, (response: WireMessage) => void>()
  #ids = 0

  constructor(options: ProgramOptions) {
    this.#options = options
    const { PATH = '' } = process.env
    this.#child = spawn(process.execPath, options.args, {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH, ...options.env },
    })
    const lines = createInterface({ input: this.#child.stdout })
    lines.on('line', line => this.#receive(JSON.parse(this.#withWords(line))))
  }

  /**
   * Sends `initialize` and `notifications/initialized`. Returns the response, and the notifications that the
   * server has sent then; its requests may come later.
   */
  async initialize(): Promise<Outcome> {
    const response = await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: this.#options.capabilities ?? {},
      clientInfo: { name: 'ports', version: '1.0.0' },
    })
    this.send({ method: 'notifications/initialized' })
    await this.request('ping')
    const isNotification = ({ method }: WireMessage) => `${method}`.startsWith('notifications/')
    return { response, sent: this.received.filter(isNotification) }
  }

  /** Sends a request. Returns the response, without its id. */
  request(method: string, params?: object): Promise<WireMessage> {
    const id = ++this.#ids
    return new Promise(resolve => {
      this.#waiting.set(id, resolve)
      this.send({ id, method, ...(params && { params }) })
    })
  }

  /** Sends a request and a ping. Returns all that the server has sent until it answered both. */
  async outcome(method: string, params?: object): Promise<Outcome> {
    const before = this.received.length
    const response = await this.request(method, params)
    await this.request('ping')
    return { response, sent: this.received.slice(before) }
  }

  /** Waits until the server has sent a number of messages of a method. Returns all of that method. */
  async messages(method: string, count: number): Promise<readonly WireMessage[]> {
    const found = () => this.received.filter(message => message.method === method)
    await expect.poll(() => found().length).toBeGreaterThanOrEqual(count)
    return found()
  }

  send(message: object): void {
    let text = JSON.stringify({ jsonrpc: '2.0', ...message })
    for (const [word, meant] of this.#words) text = text.replaceAll(word, meant)
    this.#child.stdin.write(`${text}\n`)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  get #words(): readonly [word: string, meant: string][] {
    return Object.entries(this.#options.words ?? {})
  }

  #withWords(text: string): string {
    return this.#words.reduce((told, [word, meant]) => told.replaceAll(meant, word), text)
  }

  #receive({ id, jsonrpc, ...message }: WireMessage): void {
    expect(jsonrpc).toBe('2.0')
    if (message.method === undefined) {
      this.#waiting.get(id)?.(message)
      return
    }
    this.received.push(message)
    if (id !== undefined) this.send({ id, ...this.#answer(message) })
  }

  #answer({ method, params = {} }: WireMessage): WireMessage {
    const answer = this.#options.answers?.[String(method)]
    // The check: the params of the requests of a server are objects.
    if (answer !== undefined) return answer(params as WireMessage)
    return { error: { code: -32601, message: 'Method not found' } }
  }
}
