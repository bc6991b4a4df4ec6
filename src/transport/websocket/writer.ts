import type { Duplex } from 'node:stream'
import { limits } from '../../util/limits/limits.ts'
import type { WebSocket } from './ws.ts'

/** A longer message leaves in pieces, so that a slow other side can be told from a dead one. */
const pieceBytes = 256 * 1024

/** The other side may count the pieces, and need not be more patient than we are. */
const maxPieces = limits.websocketFragments.default / 2

/**
 * The longest of several messages that leave as one, in letters: no longer than what comes of them may
 * wait, and never over what is taken, of which a letter may be three bytes.
 */
const joinedLength = limits.websocketJoinedBytes.default / 4

/** What leaves together, and how. */
export interface WebSocketGathering {
  /** Whether that is what is written in one turn of the event loop, and not in one tick. */
  readonly byTurns?: boolean
  /** Whether the other side takes several messages for one, each on a line of its own. */
  readonly joins?: boolean
}

/**
 * Writes text messages to a WebSocket; those of one tick, or of one turn, leave together.
 *
 * Long messages wait here and follow piece by piece as the wire takes them, and whatever comes
 * after them waits behind. `progress` is called whenever the wire has taken something.
 */
export class WebSocketWriter {
  readonly #ws: WebSocket
  readonly #wire: Duplex
  readonly #progress: () => void
  readonly #gathering: WebSocketGathering
  /** Short messages that leave as one. */
  #joined = ''
  #held: Buffer[] = []
  #heldAt = 0
  #heldBytes = 0
  #corked = false
  /** How many pieces the system has taken. */
  taken = 0

  constructor(
    ws: WebSocket,
    wire: Duplex,
    progress: () => void,
    gathering: WebSocketGathering = {},
  ) {
    this.#ws = ws
    this.#wire = wire
    this.#progress = progress
    this.#gathering = gathering
  }

  /** Bytes not taken by the system yet. */
  get unsent(): number {
    return this.#ws.bufferedAmount + this.#heldBytes + this.#joined.length
  }

  /** Whether nothing waits here any more, so that a closing frame may follow. */
  get idle(): boolean {
    return this.#heldBytes === 0 && this.#joined === ''
  }

  write(text: string): void {
    this.#cork()
    const isJoined = this.#gathering.joins === true && text.length < joinedLength
    if (!isJoined || this.#joined.length + text.length >= joinedLength) this.#putJoined()
    if (!isJoined) this.#put(text)
    else this.#joined = this.#joined === '' ? text : `${this.#joined}\n${text}`
  }

  #putJoined(): void {
    const joined = this.#joined
    this.#joined = ''
    if (joined !== '') this.#put(joined)
  }

  #put(text: string): void {
    if (this.#heldBytes === 0 && text.length <= pieceBytes) {
      this.#ws.send(text, this.#onTaken)
      return
    }
    const bytes = Buffer.from(text, 'utf8')
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    this.#release()
  }

  #release(): void {
    let [bytes] = this.#held
    while (bytes !== undefined && this.#ws.bufferedAmount < pieceBytes) {
      const from = this.#heldAt
      const to = from + Math.max(pieceBytes, Math.ceil(bytes.length / maxPieces))
      const fin = to >= bytes.length
      const piece = bytes.subarray(from, to)
      this.#heldBytes -= piece.length
      this.#heldAt = fin ? 0 : to
      if (fin) this.#held.shift()
      this.#ws.send(piece, { binary: false, fin }, this.#onTaken)
      bytes = this.#held[0]
    }
  }

  #cork(): void {
    if (this.#corked) return
    this.#corked = true
    this.#wire.cork()
    // Runs after the promise callbacks that are due, so that their messages leave together; the other
    // also after everything else that has arrived by now.
    if (this.#gathering.byTurns) setImmediate(this.#uncork)
    else process.nextTick(this.#uncork)
  }

  #uncork = (): void => {
    this.#corked = false
    this.#putJoined()
    this.#wire.uncork()
  }

  #onTaken = (error?: Error | null): void => {
    this.taken++
    if (this.#heldBytes > 0 && !error) this.#release()
    this.#progress()
  }
}
