import type { RecordStore } from '../backplane/record-store.ts'
import { randomHex } from '../util/random.ts'

/**
 * Returns the secret that the nodes of one machine share through their backplane. The first node makes it. A process
 * that can read the backplane can read it, so a cluster of several machines needs a secret of its own.
 */
export async function sharedSecret(store: RecordStore): Promise<string> {
  const secret = await keepSecret(store, randomHex(32))
  await store.touch([key], keptMs)
  return secret
}

/** Stores a secret unless there is one, because the engine was emptied. Resolves to the stored one. */
export async function keepSecret(store: RecordStore, secret: string): Promise<string> {
  const { now = secret } = await store.swap(key, undefined, { value: secret, ttlMs: keptMs })
  return now
}

/** Begins anew with every start of a node. */
const keptMs = 365 * 24 * 3_600_000
const key = 'link secret'
