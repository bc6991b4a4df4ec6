import { isRecord } from '../../util/record.ts'

/** Any object that came over the wire. */
export type Heard = Readonly<Record<string, unknown>>

/** A message that came. */
export interface Delivered {
  readonly type: 'message'
  readonly message: Heard
}

/** An answer over HTTP that holds no message. */
export interface Refused {
  readonly type: 'refused'
  readonly status: number
  readonly mediaType: string
  readonly text: string
}

/** Nothing came in the time there was. */
export interface Silence {
  readonly type: 'silence'
  readonly ms: number
}

/** Nothing can come any more. */
export interface Gone {
  readonly type: 'gone'
  readonly why: string
}

/** Something that came. */
export type Arrival = Delivered | Refused

/** What waiting ends with. */
export type Awaited = Arrival | Silence | Gone

/** A way to the server on which anything can be said, also what no client would say. */
export interface Wire {
  readonly inbox: Inbox
  /** Sends a text as one message. Resolves when it has been taken, which over HTTP is its answer. */
  send(text: string, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Ends it, whatever state it is in. Idempotent; never rejects. */
  close(): Promise<void>
}

/** What has come and has not been looked at, and who waits for more. */
export class Inbox {
  #waiting: Arrival[] = []
  #gone: string | undefined
  #wake: (() => void) | undefined
  /** Given the requests of the server, which are not for those who wait for replies. */
  onRequest: ((message: Heard) => void) | undefined

  /** Why nothing more can come; undefined while something can. */
  get gone(): string | undefined {
    return this.#gone
  }

  push(arrival: Arrival): void {
    if (arrival.type === 'message' && 'method' in arrival.message && 'id' in arrival.message) {
      this.onRequest?.(arrival.message)
      return
    }
    this.#waiting.push(arrival)
    this.#wake?.()
  }

  /** Takes a text apart: a message, a batch of them, or nothing that could be one. */
  pushText(text: string): boolean {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return false
    }
    const messages = Array.isArray(value) ? value : [value]
    if (!messages.every(isRecord) || messages.length === 0) return false
    for (const message of messages) this.push({ type: 'message', message })
    return true
  }

  end(why: string): void {
    this.#gone ??= why
    this.#wake?.()
  }

  /** Forgets what has come so far. */
  clear(): void {
    this.#waiting = []
  }

  /** Takes the first thing that matches, now or within the time. One at a time may wait. */
  async take(matches: (arrival: Arrival) => boolean, ms: number): Promise<Awaited> {
    const until = performance.now() + ms
    for (;;) {
      const at = this.#waiting.findIndex(matches)
      const [found] = at === -1 ? [] : this.#waiting.splice(at, 1)
      if (found !== undefined) return found
      if (this.#gone !== undefined) return { type: 'gone', why: this.#gone }
      const left = until - performance.now()
      if (left <= 0) return { type: 'silence', ms }
      await this.#next(left)
    }
  }

  #next(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
