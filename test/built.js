import { build, isStale } from '../scripts/steps.js'

/**
 * Makes sure that `dist` is what the sources say. Type errors are shown and do not stop the tests:
 * the gate fails for them in a step of its own.
 */
export async function setup() {
  if (isStale()) await build()
}
