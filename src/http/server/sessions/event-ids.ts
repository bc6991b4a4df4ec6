import { randomHex } from '../../../util/random.ts'

/** The position that an event id encodes. */
export interface EventPosition {
  /** The epoch of the process that has sent the event. */
  readonly epoch: number
  readonly stream: number
  readonly sequence: number
}

/** Formats and parses the event ids of one session, which encode the stream and the position in it. */
export interface EventIds {
  /** What all ids of the session begin with. */
  readonly prefix: string
  /** The epoch of this process, which is part of its ids unless it is 0. */
  readonly epoch: number
  /** `connection` distinguishes ids that have the same position. */
  readonly format: (stream: number, sequence: number, connection?: number) => string
  /** Returns the position in an id; undefined for an id of another session. */
  readonly parse: (id: string) => EventPosition | undefined
}

/**
 * Makes the EventIds of one session. Every id begins with a random prefix, so that an id of another
 * session matches nothing here. Each process that continues a session has a greater `epoch`: a client may
 * have got events that the process after does not know, and their numbers are used again.
 */
export function eventIds(prefix = randomHex(8), epoch = 0): EventIds {
  const head = epoch === 0 ? prefix : `${prefix}-${epoch}`
  return {
    prefix,
    epoch,
    format: (stream, sequence, connection) =>
      connection === undefined
        ? `${head}-${stream}-${sequence}`
        : `${head}-${stream}-${sequence}.${connection}`,
    parse: id => {
      const found = idPattern.exec(id)
      if (found === null || found[1] !== prefix) return undefined
      return {
        epoch: Number(found[2] ?? 0),
        stream: Number(found[3]),
        sequence: Number(found[4]),
      }
    },
  }
}

const idPattern = /^([0-9a-f]{16})-(?:(\d{1,16})-)?(\d{1,15})-(\d{1,15})(?:\.\d{1,15})?$/
