import type { HttpAsking, HttpHeaders } from '../options.ts'

/** One request to be carried to the server, as it is: redirects are somebody else's. */
export interface Carried extends HttpAsking {
  /** The protocol's own headers, their names in lower case. */
  readonly headers: HttpHeaders
  /** The caller's headers. Those above win. */
  readonly added: HttpHeaders
  readonly body?: string
  readonly hold: Hold
  /** Whether it is answered at once, so that a crowd of them may wait for one another. */
  readonly isBrief?: boolean
}

/**
 * Carries requests of one channel to their origin. Rejects with the reason of the hold once that is
 * dropped, and otherwise with what went wrong, which `carrierFailure` understands.
 */
export interface Carrier {
  ask(request: Carried): Promise<Answer>
  /** Lets go of every connection. Nothing can be asked afterwards. */
  close(): void
}

/** The answer to one request: its head, and a body that is taken in one of two ways, or dropped. */
export interface Answer {
  readonly status: number
  /** The words behind the status; often empty. */
  readonly statusText: string
  /** All headers, made when they are first asked for. */
  readonly headers: Headers
  /** One header by its name in lower case. */
  header(name: string): string | null
  /**
   * The whole body, at once where it is there; undefined, and the rest is left, as soon as it is larger
   * than `maxBytes`. Rejects when it breaks off.
   */
  whole(maxBytes: number): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /**
   * Gives the body piece by piece as it comes. A promise that `take` returns stops the reading until it
   * settles. Resolves at the end of the body or once it is dropped, rejects when it breaks off.
   */
  each(take: (piece: Uint8Array) => void | Promise<void>): Promise<void>
  /** Takes no more of it. Idempotent. */
  drop(): void
}

/** Whether an answer says that the request was accepted. */
export function isGood({ status }: Answer): boolean {
  return status >= 200 && status < 300
}

/** The media type of an answer in lower case, without parameters. */
export function mediaType(answer: Answer): string {
  const type = answer.header('content-type')
  // As nearly everybody writes it.
  if (type === 'application/json' || type === 'text/event-stream') return type
  return (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** What a request hangs by: dropped, it is given up, and the reading of its answer with it. */
export class Hold {
  #isDropped = false
  #reason: unknown
  /** Told once, when it is dropped. Set by whoever works for the request at the time. */
  onDrop: (() => void) | undefined

  get isDropped(): boolean {
    return this.#isDropped
  }

  /** Why it was dropped. */
  get reason(): unknown {
    return this.#reason
  }

  /** Idempotent: the first reason stays. */
  drop(reason: unknown): void {
    if (this.#isDropped) return
    this.#isDropped = true
    this.#reason = reason
    this.onDrop?.()
    this.onDrop = undefined
  }
}
