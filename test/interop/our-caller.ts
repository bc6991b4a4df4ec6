import type { Peer } from '../../src/jsonrpc/peer/peer.ts'
import type { Caller, Outcome } from './cases.ts'

/** One of our peers as the caller. */
export function ourCaller(peer: Peer): Caller {
  return {
    call: (method, params) => peer.call(method, params),
    notify: (method, params) => peer.notify(method, params),
    batch: entries =>
      peer.batch(batch => {
        const outcomes: Promise<Outcome>[] = []
        for (const { method, params, isNotification } of entries) {
          if (isNotification) batch.notify(method, params)
          else outcomes.push(settled(batch.call(method, params)))
        }
        return outcomes
      }),
  }
}

function settled(call: Promise<unknown>): Promise<Outcome> {
  return call.then(
    result => ({ result }),
    (error: unknown) => ({ error }),
  )
}
