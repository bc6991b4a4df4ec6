import { Gather } from '../../../wire/gather.ts'
import type { Answer } from './http-client.ts'
import type { ResponseHead } from './response-parser.ts'

/** What an answer needs from the connection that it comes by. */
export interface AnswerSource {
  pause(): void
  resume(): void
  /** The rest is not wanted. */
  leave(): void
}

/** An answer whose body is pushed in as it comes, and kept until somebody takes it. */
export class NodeAnswer implements Answer {
  readonly #head: ResponseHead
  /** Undefined once all has come, or nothing more will. */
  #source: AnswerSource | undefined
  /** What has come and not been taken. */
  #pieces: Uint8Array[] = []
  #taker: Taker | undefined
  #isWaiting = false
  #failure: { readonly error: unknown } | undefined

  constructor(head: ResponseHead, source: AnswerSource) {
    this.#head = head
    this.#source = source
  }

  get status(): number {
    return this.#head.status
  }

  get statusText(): string {
    return this.#head.reason
  }

  get headers(): Headers {
    return new Headers([...this.#head.headers])
  }

  header(name: string): string | null {
    return this.#head.headers.get(name) ?? null
  }

  whole(maxBytes: number): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const isHere = this.#source === undefined && this.#failure === undefined
    const [first] = this.#pieces
    if (isHere && this.#pieces.length <= 1) {
      this.#pieces = []
      if (first === undefined) return new Uint8Array(0)
      return first.length > maxBytes ? undefined : first
    }
    const all = new Gather(maxBytes)
    let isTooLarge = false
    const take = (piece: Uint8Array): void => {
      isTooLarge ||= all.size + piece.length > maxBytes
      if (isTooLarge) this.drop()
      else all.add(piece, 0, piece.length)
    }
    return this.each(take).then(() => (isTooLarge ? undefined : all.take()))
  }

  each(take: (piece: Uint8Array) => void | Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#taker = { take, resolve, reject }
      this.#source?.resume()
      this.#deliver()
    })
  }

  drop(): void {
    const source = this.#source
    this.#source = undefined
    this.#pieces = []
    this.#taker?.resolve()
    this.#taker = undefined
    source?.leave()
  }

  /** A piece has come. */
  push(piece: Uint8Array): void {
    if (this.#source === undefined) return
    this.#pieces.push(piece)
    this.#deliver()
  }

  /** Whether pieces are kept that nobody has taken yet: then no more of them should come. */
  get isFull(): boolean {
    return this.#pieces.length > 0
  }

  /** All has come. */
  end(): void {
    this.#source = undefined
    this.#deliver()
  }

  /** It broke off. */
  fail(error: unknown): void {
    if (this.#source === undefined) return
    this.#source = undefined
    this.#failure = { error }
    this.#deliver()
  }

  #deliver(): void {
    while (this.#taker !== undefined && !this.#isWaiting) {
      const piece = this.#pieces.shift()
      if (piece !== undefined) this.#give(this.#taker, piece)
      else if (this.#source !== undefined) return
      else this.#settle(this.#taker)
    }
  }

  #give(taker: Taker, piece: Uint8Array): void {
    let room: void | Promise<void>
    try {
      room = taker.take(piece)
    } catch (error) {
      this.#refuse(taker, error)
      return
    }
    if (room === undefined) return
    this.#isWaiting = true
    this.#source?.pause()
    room.then(
      () => {
        this.#isWaiting = false
        this.#source?.resume()
        this.#deliver()
      },
      error => this.#refuse(taker, error),
    )
  }

  /** Whoever took it has failed, and takes no more. */
  #refuse(taker: Taker, error: unknown): void {
    taker.reject(error)
    this.#taker = undefined
    this.drop()
  }

  #settle(taker: Taker): void {
    this.#taker = undefined
    if (this.#failure === undefined) taker.resolve()
    else taker.reject(this.#failure.error)
  }
}

interface Taker {
  readonly take: (piece: Uint8Array) => void | Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}
