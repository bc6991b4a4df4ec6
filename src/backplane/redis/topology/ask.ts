import { limits } from '../../../util/limits/limits.ts'
import type { Clock } from '../../../util/time/clock.ts'
import { withTimeout } from '../../../util/time/sleep.ts'
import type { OpenRaw, RawConnection } from '../raw-connection.ts'

/**
 * Sends questions on a connection of their own and closes it. Rejects after half of `engineConnectMs`, because the
 * rest is for the connection that the answer leads to.
 */
export async function ask<T>(
  open: OpenRaw,
  clock: Clock,
  question: (connection: RawConnection) => Promise<T>,
): Promise<T> {
  let lost: (error: unknown) => void = () => {}
  const raw = open(error => lost(error))
  try {
    const timeoutMs = limits.engineConnectMs.default / 2
    return await new Promise<T>((resolve, reject) => {
      lost = reject
      void withTimeout(timeoutMs, clock, done => {
        const talk = async () => {
          await raw.connect()
          return question(raw)
        }
        talk().then(resolve, reject).finally(done)
      }).then(isInTime => {
        if (!isInTime) reject(new Error(`no answer in ${timeoutMs} ms`))
      })
    })
  } finally {
    raw.destroy()
  }
}
