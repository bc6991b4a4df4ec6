/** A promise together with the functions that settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

/** Makes a pending promise that the caller settles. */
export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

/**
 * Returns a native promise for a thenable, and any other value unchanged: query builders of databases
 * and other realms have promises of their own. Throws what reading the member `then` throws, because
 * the value comes from user code.
 */
export function fromThenable(outcome: unknown): unknown {
  if (outcome instanceof Promise || typeof outcome !== 'object' || outcome === null) return outcome
  const { then } = outcome as { then?: unknown }
  // The check: a thenable; Promise.resolve handles one that settles twice or throws.
  return typeof then === 'function' ? Promise.resolve(outcome as PromiseLike<unknown>) : outcome
}

/**
 * Settles as the promise does, unless the signal aborts first; then rejects with the signal's reason.
 * The work itself continues: it has to observe the signal too, if it can be stopped.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    const cleanUp = () => signal.removeEventListener('abort', onAbort)
    work.then(
      value => {
        cleanUp()
        resolve(value)
      },
      error => {
        cleanUp()
        reject(error)
      },
    )
  })
}

/** Resolves when the signal is aborted, at once if it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Runs an operation for each item, at most `size` of them at a time. Resolves to the results in the order of the items. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  operation: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += size) {
    results.push(...(await Promise.all(items.slice(at, at + size).map(operation))))
  }
  return results
}
