import { growth } from './growth.js'
import { idle } from './idle.js'

/** What connections and calls leave in memory. */
export async function memory(options) {
  return [await idle(options), await growth(options)]
}
