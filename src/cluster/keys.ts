import type { Backplane } from '../backplane/backplane.ts'
import { derivation, importSecret, type KeyRing } from '../util/crypto/keys.ts'
import { limits } from '../util/limits/limits.ts'
import { isRecord } from '../util/objects.ts'
import { type Clock, systemClock, type Timer } from '../util/time/clock.ts'
import { sharedSecret } from './secret.ts'

/** Options of `sharedKeys`. */
export interface SharedKeyOptions {
  /** The secret of the cluster; by default the one that the backplane keeps for the nodes of one machine. */
  readonly secret?: string | undefined
  /** The clock by which the keys are looked up; for tests. */
  readonly clock?: Clock
}

/** The ring of sealing keys that the nodes of a cluster share. */
export interface SharedKeys extends KeyRing, AsyncDisposable {
  /** The number of the key that seals, which grows with each rotation. */
  readonly generation: number
  /** Replaces the key that seals, on all nodes. Rejects if the engine cannot be reached. */
  rotate(): Promise<void>
  /** Stops following the rotations of other nodes. Idempotent. */
  close(): Promise<void>
}

/**
 * Opens the sealing keys of a cluster: `new Server(info, { keys: await sharedKeys(backplane) })`. What one node has sealed
 * for a client, such as the state of a request, opens on every other node.
 *
 * The keys are derived from the secret of the cluster and a generation, which is all that the engine knows of them. A
 * node seals with the current one, and also opens what was sealed with the one before and the one after: so nodes need
 * not learn of a rotation at the same time. The keys are rotated every `keyRotationMs`.
 */
export async function sharedKeys(
  backplane: Backplane,
  { secret, clock = systemClock }: SharedKeyOptions = {},
): Promise<SharedKeys> {
  await backplane.open()
  const text = secret ?? (await sharedSecret(backplane.store))
  const base = await baseOf(text)
  const keyOf = async (generation: number): Promise<Uint8Array> => {
    const purpose = derivation(purposeOf(generation))
    return new Uint8Array(await crypto.subtle.deriveBits(purpose, base, 256))
  }
  const ring = new GenerationRing(backplane, keyOf, clock)
  await ring.open()
  return ring
}

/** Derives the key by which the nodes of a cluster seal what they store for good. It is not rotated. */
export async function lastingKeys(secret: string): Promise<readonly Uint8Array[]> {
  const bits = derivation('trunkline cluster storage')
  return [new Uint8Array(await crypto.subtle.deriveBits(bits, await baseOf(secret), 256))]
}

function baseOf(secret: string) {
  return importSecret(new Uint8Array(new TextEncoder().encode(secret)))
}

function purposeOf(generation: number): string {
  return generation === 0
    ? 'trunkline cluster sealing'
    : `trunkline cluster sealing, generation ${generation}`
}

/** What the engine knows of the keys. */
interface Generation {
  readonly generation: number
  /** When it became the current one, in milliseconds since 1970. */
  readonly since: number
}

class GenerationRing implements SharedKeys {
  readonly #backplane: Backplane
  readonly #keyOf: (generation: number) => Promise<Uint8Array>
  readonly #clock: Clock
  #keys: readonly Uint8Array[] = []
  #current: Generation = { generation: -1, since: 0 }
  #timer: Timer | undefined
  #unsubscribe: () => void = () => {}
  #isClosed = false

  constructor(
    backplane: Backplane,
    keyOf: (generation: number) => Promise<Uint8Array>,
    clock: Clock,
  ) {
    this.#backplane = backplane
    this.#keyOf = keyOf
    this.#clock = clock
  }

  get keys(): readonly Uint8Array[] {
    return this.#keys
  }

  get generation(): number {
    return this.#current.generation
  }

  async open(): Promise<void> {
    await this.#refresh()
    const refresh = (): void => void this.#refresh().catch(() => {})
    this.#unsubscribe = await this.#backplane.bus
      .subscribe(channel, { message: refresh, gap: refresh })
      .catch(() => () => {})
    this.#schedule()
  }

  rotate(): Promise<void> {
    return this.#refresh(true)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#unsubscribe()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #schedule(): void {
    if (this.#isClosed) return
    const check = async (): Promise<void> => {
      await this.#refresh().catch(() => {})
      this.#schedule()
    }
    this.#timer = this.#clock.start(() => void check(), limits.keyCheckMs.default)
    this.#timer.unref()
  }

  /**
   * Learns the current generation. Writes it again if the engine has lost it, and begins the next one if that is due
   * or wanted.
   */
  async #refresh(isWanted = false): Promise<void> {
    const { store, bus } = this.#backplane
    const text = (await store.get(recordKey))?.value
    const stored = readGeneration(text)
    const known = Math.max(stored?.generation ?? 0, this.#current.generation, 0)
    const now = Date.now()
    const since = stored?.generation === known ? stored.since : now
    const isDue = now - since >= limits.keyRotationMs.default
    const next: Generation =
      isDue || isWanted ? { generation: known + 1, since: now } : { generation: known, since }
    if (next.generation !== stored?.generation) {
      const write = { value: JSON.stringify(next), ttlMs: keptMs }
      const { isDone } = await store.swap(recordKey, text, write)
      // Another node was faster.
      if (!isDone) return this.#refresh()
      bus.publish(channel, '')
    }
    await this.#use(next)
  }

  async #use(next: Generation): Promise<void> {
    if (next.generation === this.#current.generation) return
    const { generation } = next
    const opened = [generation, generation + 1, generation - 1].filter(each => each >= 0)
    this.#keys = await Promise.all(opened.map(this.#keyOf))
    this.#current = next
  }
}

function readGeneration(text: string | undefined): Generation | undefined {
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isRecord(value)) return undefined
  const { generation, since } = value
  if (typeof generation !== 'number' || typeof since !== 'number') return undefined
  return Number.isSafeInteger(generation) && generation >= 0 ? { generation, since } : undefined
}

const recordKey = 'sealing keys'
const channel = 'sealing keys'
/** Begins anew with every rotation. */
const keptMs = 365 * 24 * 3_600_000
