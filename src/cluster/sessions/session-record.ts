import { isFenced } from '../../backplane/backplane-error.ts'
import type { RecordStore, RecordWrite } from '../../backplane/record-store.ts'
import { ownedSetOf, sessionKey } from './stored-session.ts'

/** What the record of a session needs of its node. */
export interface RecordHost {
  readonly node: string
  readonly store: RecordStore
  /** Time for which a record is kept after the last sign of life of its client. */
  readonly ttlMs: number
  /** Called when this node has become the owner. */
  onOwner(epoch: number): void
  /** Called when another node owns the session. */
  onFenced(): void
}

/**
 * The record of one session of this node. Writes follow each other, and only the latest text is written. While the
 * engine cannot be reached, the text waits for `flush`.
 */
export class SessionRecordWriter {
  readonly #session: string
  readonly #host: RecordHost
  #text: string
  #epoch: number
  #isDirty = false
  #writing: Promise<void> | undefined
  #isEnded = false

  /** `epoch` is 0 for a session that is not stored yet. */
  constructor(session: string, text: string, epoch: number, host: RecordHost) {
    this.#session = session
    this.#host = host
    this.#text = text
    this.#epoch = epoch
  }

  /** The epoch of this node; 0 while the session is not stored. */
  get epoch(): number {
    return this.#epoch
  }

  /** Whether everything is stored. */
  get isSaved(): boolean {
    return this.#epoch > 0 && !this.#isDirty
  }

  /** Writes a text. Resolves when it is stored, or cannot be at present. Never rejects. */
  write(text: string): Promise<void> {
    this.#text = text
    this.#isDirty = true
    return this.flush()
  }

  /** Writes what is not stored yet. Never rejects. */
  flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  /** Writes the record again. Resolves as `write` does. */
  async rewrite(): Promise<void> {
    await this.#index().catch(ignore)
    await this.write(this.#text)
  }

  /**
   * Writes the record again, because the lease of this node had ended. Resolves to whether this node is the owner;
   * rejects if that cannot be found out.
   */
  async assert(): Promise<boolean> {
    if (this.#epoch === 0) {
      await this.#claim()
      return this.#epoch > 0
    }
    const { node, store } = this.#host
    try {
      await store.put(sessionKey(this.#session), this.#record(), { node, epoch: this.#epoch })
      await this.#index()
      return true
    } catch (error) {
      if (isFenced(error)) return false
      throw error
    }
  }

  /** Extends the life of the record. Never rejects. */
  async touch(): Promise<void> {
    const { store, node, ttlMs } = this.#host
    await Promise.all([
      store.touch([sessionKey(this.#session)], ttlMs),
      store.add(ownedSetOf(node), this.#session, ttlMs),
    ]).catch(ignore)
  }

  /** Deletes the record. Never rejects. */
  async end(): Promise<void> {
    this.#isEnded = true
    await this.#writing
    if (this.#epoch === 0) return
    const { node, store } = this.#host
    const owner = { node, epoch: this.#epoch }
    await Promise.all([
      store.delete(sessionKey(this.#session), owner),
      store.remove(ownedSetOf(node), this.#session),
    ]).catch(ignore)
  }

  async #write(): Promise<void> {
    try {
      if (this.#epoch === 0) await this.#claim()
      const { node, store } = this.#host
      while (this.#isDirty && !this.#isEnded) {
        this.#isDirty = false
        const owner = { node, epoch: this.#epoch }
        await store.put(sessionKey(this.#session), this.#record(), owner)
      }
    } catch (error) {
      this.#isDirty = true
      if (isFenced(error)) this.#host.onFenced()
    }
  }

  async #claim(): Promise<void> {
    const { node, store } = this.#host
    const key = sessionKey(this.#session)
    this.#isDirty = false
    const [claim] = await Promise.all([
      store.claim(key, undefined, node, this.#record()),
      this.#index(),
    ])
    // A claim whose outcome was unknown has succeeded if this node is the owner.
    const epoch = claim.isOwner ? claim.epoch : claim.owner?.node === node ? claim.owner.epoch : 0
    this.#epoch = epoch
    if (epoch > 0) this.#host.onOwner(epoch)
    else this.#host.onFenced()
  }

  #index(): Promise<void> {
    const { node, store, ttlMs } = this.#host
    return store.add(ownedSetOf(node), this.#session, ttlMs)
  }

  #record(): RecordWrite {
    return { value: this.#text, ttlMs: this.#host.ttlMs }
  }
}

// What cannot be done now is repeated, or runs out.
function ignore(): void {}
