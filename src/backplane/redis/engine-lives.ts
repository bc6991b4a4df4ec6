import { randomHex } from '../../util/random.ts'
import { BackplaneError } from '../backplane-error.ts'
import type { PreparedConnection } from './connection.ts'
import { textReply } from './replies.ts'

/**
 * Notices that an engine was emptied. Each engine keeps a random text for as long as it keeps its data; another
 * text means that it was emptied and has started a new life.
 */
export class EngineLives {
  /** The last known text of each key. */
  readonly #known = new Map<string, string>()

  /** Reads the text of an engine, and makes one if there is none. Resolves to whether it is another one than before. */
  async isOther(connection: Pick<PreparedConnection, 'send'>, key: string): Promise<boolean> {
    // A full engine refuses this, and knows its text already or could not store anything anyway.
    await connection.send(['HSETNX', key, 'born', randomHex(8)]).catch(error => {
      if (!(error instanceof BackplaneError && error.code === 'full')) throw error
    })
    return this.notice(key, textReply((await connection.send(['HGET', key, 'born'])) ?? 'full'))
  }

  /** Remembers the text of an engine. Returns whether it is another one than before. */
  notice(key: string, born: string): boolean {
    const before = this.#known.get(key)
    this.#known.set(key, born)
    return before !== undefined && before !== born
  }
}
