/** The package `jose`. */
export type Jose = typeof import('jose')

let loading: Promise<Jose> | undefined

/** Loads the package `jose`, which programs without tokens do not need. */
export function loadJose(): Promise<Jose> {
  loading ??= import('jose')
  return loading
}
