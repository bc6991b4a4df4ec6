import { build, isStale } from '../scripts/steps.js'

/**
 * Builds `dist` if it is older than the sources. Type errors are printed and do not stop the tests:
 * a separate step of the gate fails for them.
 */
export async function setup() {
  if (isStale()) await build()
}
