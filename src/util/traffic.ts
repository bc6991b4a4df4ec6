/** A stream that knows how much has passed, as the sockets and pipes of Node do. */
export interface Counted {
  readonly bytesRead?: number
  readonly bytesWritten?: number
  once(event: 'close', listener: () => void): unknown
}

/**
 * How many bytes have come and gone over some connections, those that have ended included.
 *
 * The connections count by themselves, below JavaScript, and are asked when somebody looks: a message
 * costs nothing. Bytes are those on the wire, with frames and headers, and without TLS.
 */
export class Traffic {
  #received = 0
  #sent = 0
  readonly #reading = new Set<Counted>()
  readonly #writing = new Set<Counted>()

  /** Counts a connection from its beginning until it has closed; its two directions may be two streams. */
  watch(reading: Counted, writing: Counted = reading): void {
    if (this.#reading.has(reading)) return
    this.#reading.add(reading)
    this.#writing.add(writing)
    // A stream that has closed still tells how much it was.
    reading.once('close', () => {
      this.#reading.delete(reading)
      this.#received += reading.bytesRead ?? 0
    })
    writing.once('close', () => {
      this.#writing.delete(writing)
      this.#sent += writing.bytesWritten ?? 0
    })
  }

  /** From the other side. */
  get received(): number {
    let sum = this.#received
    for (const { bytesRead = 0 } of this.#reading) sum += bytesRead
    return sum
  }

  /** To the other side, or on the way there. */
  get sent(): number {
    let sum = this.#sent
    for (const { bytesWritten = 0 } of this.#writing) sum += bytesWritten
    return sum
  }
}
