import { limits } from '../../../util/limits/limits.ts'
import type { TokenStore } from './token-store.ts'

/** Makes a store that forgets everything when the program ends. */
export function memoryStore(): TokenStore {
  const values = new Map<string, string>()
  /** The last work of each key, in whose order they run. */
  const turns = new Map<string, Promise<unknown>>()
  return {
    get: async key => values.get(key),
    set: async (key, value) => {
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > limits.storedEntries.default && oldest !== undefined) values.delete(oldest)
    },
    remove: async (key, value) => {
      if (value === undefined || values.get(key) === value) values.delete(key)
    },
    exclusive: (key, work) => {
      const turn = (turns.get(key) ?? Promise.resolve()).then(work)
      const settled = turn.then(undefined, () => {})
      turns.set(key, settled)
      void settled.then(() => {
        if (turns.get(key) === settled) turns.delete(key)
      })
      return turn
    },
    keys: async () => [...values.keys()],
  }
}
