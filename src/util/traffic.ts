/** A stream that counts its bytes, as the sockets and pipes of Node.js do. */
export interface CountedStream {
  /** The bytes received so far. */
  readonly bytesRead?: number
  /** The bytes sent so far. */
  readonly bytesWritten?: number
  /** Calls the listener when the stream has closed. */
  once(event: 'close', listener: () => void): unknown
}

/**
 * Counts the bytes received and sent over a set of connections, including closed ones.
 *
 * The streams count natively and are read only when a total is requested, so a message costs nothing.
 * The bytes are those on the wire, with framing and headers, but without TLS.
 */
export class Traffic {
  #received = 0
  #sent = 0
  readonly #reading = new Set<CountedStream>()
  readonly #writing = new Set<CountedStream>()

  /** Counts a connection until it has closed; its two directions can be two streams. */
  watch(reading: CountedStream, writing: CountedStream = reading): void {
    if (this.#reading.has(reading)) return
    this.#reading.add(reading)
    this.#writing.add(writing)
    // A closed stream still has its total.
    reading.once('close', () => {
      this.#reading.delete(reading)
      this.#received += reading.bytesRead ?? 0
    })
    writing.once('close', () => {
      this.#writing.delete(writing)
      this.#sent += writing.bytesWritten ?? 0
    })
  }

  /** Bytes received. */
  get received(): number {
    let sum = this.#received
    for (const { bytesRead = 0 } of this.#reading) sum += bytesRead
    return sum
  }

  /** Bytes sent, or accepted for sending. */
  get sent(): number {
    let sum = this.#sent
    for (const { bytesWritten = 0 } of this.#writing) sum += bytesWritten
    return sum
  }
}
