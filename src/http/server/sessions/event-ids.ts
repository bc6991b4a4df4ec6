import { randomHex } from '../../../util/random.ts'

/** The ids of a session's events, which tell the stream and the place in it. */
export interface EventIds {
  /** `connection` tells apart what shares a place. */
  readonly write: (stream: number, sequence: number, connection?: number) => string
  /** The place that an id names; undefined for one that is not of this session. */
  readonly read: (id: string) => { readonly stream: number; readonly sequence: number } | undefined
}

/**
 * Makes the ids of one session. They begin with a word of its own, so that an id of another session
 * finds nothing here.
 */
export function eventIds(): EventIds {
  const word = randomHex(8)
  return {
    write: (stream, sequence, connection) =>
      connection === undefined
        ? `${word}-${stream}-${sequence}`
        : `${word}-${stream}-${sequence}.${connection}`,
    read: id => {
      const found = form.exec(id)
      if (found === null || found[1] !== word) return undefined
      return { stream: Number(found[2]), sequence: Number(found[3]) }
    },
  }
}

const form = /^([0-9a-f]{16})-(\d{1,15})-(\d{1,15})(?:\.\d{1,15})?$/
