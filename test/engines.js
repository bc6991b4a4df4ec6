import { installEngines } from '../scripts/engines.js'

/** Installs the engines of clusters that tests run, where that is possible. */
export function setup() {
  installEngines()
}
