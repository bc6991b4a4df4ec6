import { growth } from './growth.js'
import { idle } from './idle.js'

/** Measures the memory of connections and calls. */
export async function memory(options) {
  return [await idle(options), await growth(options)]
}
