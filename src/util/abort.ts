/**
 * What the promise settles with, unless the signal aborts first; then its reason. The work itself goes
 * on: whoever does it listens to the signal too, or has nothing to stop.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    const over = () => signal.removeEventListener('abort', onAbort)
    work.then(
      value => {
        over()
        resolve(value)
      },
      error => {
        over()
        reject(error)
      },
    )
  })
}
