import { ByteBuffer } from '../../../wire/byte-buffer.ts'
import type { HttpResponse } from './http-client.ts'
import type { ResponseHead } from './response-parser.ts'

/** What a response needs from its connection. */
export interface ResponseSource {
  /** The IP address of the server. */
  readonly remoteAddress: string | undefined
  pause(): void
  resume(): void
  /** Closes the connection, because the rest of the body is not wanted. */
  abandon(): void
}

/** A response whose body is pushed in as it arrives, and buffered until it is read. */
export class NodeResponse implements HttpResponse {
  readonly #head: ResponseHead
  readonly #from: ResponseSource
  /** Undefined once the body is complete or has failed. */
  #source: ResponseSource | undefined
  /** Pieces that have arrived and were not read yet. */
  #pieces: Uint8Array[] = []
  #reader: BodyReader | undefined
  #isWaiting = false
  #failure: { readonly error: unknown } | undefined

  constructor(head: ResponseHead, source: ResponseSource) {
    this.#head = head
    this.#from = source
    this.#source = source
  }

  get status(): number {
    return this.#head.status
  }

  get statusText(): string {
    return this.#head.reason
  }

  get remoteAddress(): string | undefined {
    return this.#from.remoteAddress
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
    const all = new ByteBuffer(maxBytes)
    let isTooLarge = false
    const take = (piece: Uint8Array): void => {
      isTooLarge ||= all.size + piece.length > maxBytes
      if (isTooLarge) this.discard()
      else all.add(piece, 0, piece.length)
    }
    return this.each(take).then(() => (isTooLarge ? undefined : all.take()))
  }

  each(take: (piece: Uint8Array) => void | Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#reader = { take, resolve, reject }
      this.#source?.resume()
      this.#deliver()
    })
  }

  discard(): void {
    const source = this.#source
    this.#source = undefined
    this.#pieces = []
    this.#reader?.resolve()
    this.#reader = undefined
    source?.abandon()
  }

  /** Adds a piece of the body. */
  push(piece: Uint8Array): void {
    if (this.#source === undefined) return
    this.#pieces.push(piece)
    this.#deliver()
  }

  /** Whether unread pieces are buffered, so that the connection should be paused. */
  get isFull(): boolean {
    return this.#pieces.length > 0
  }

  /** Marks the body as complete. */
  end(): void {
    this.#source = undefined
    this.#deliver()
  }

  /** Fails the body, because it broke off. */
  fail(error: unknown): void {
    if (this.#source === undefined) return
    this.#source = undefined
    this.#failure = { error }
    this.#deliver()
  }

  #deliver(): void {
    while (this.#reader !== undefined && !this.#isWaiting) {
      const piece = this.#pieces.shift()
      if (piece !== undefined) this.#deliverPiece(this.#reader, piece)
      else if (this.#source !== undefined) return
      else this.#settle(this.#reader)
    }
  }

  #deliverPiece(reader: BodyReader, piece: Uint8Array): void {
    let room: void | Promise<void>
    try {
      room = reader.take(piece)
    } catch (error) {
      this.#failReader(reader, error)
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
      error => this.#failReader(reader, error),
    )
  }

  /** Fails the reader, because its `take` threw, and discards the rest. */
  #failReader(reader: BodyReader, error: unknown): void {
    reader.reject(error)
    this.#reader = undefined
    this.discard()
  }

  #settle(reader: BodyReader): void {
    this.#reader = undefined
    if (this.#failure === undefined) reader.resolve()
    else reader.reject(this.#failure.error)
  }
}

interface BodyReader {
  readonly take: (piece: Uint8Array) => void | Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}
