import type { CallOptions } from '../jsonrpc/handler.ts'
import type { AllOf } from '../jsonrpc/peer/outbound.ts'
import type { Core } from './core.ts'
import { refused } from './errors.ts'
import { checkResult, type ResultOf } from './results.ts'
import { hasBatches } from './settings.ts'
import { checkDeclared } from './strict.ts'

/** Collects the messages of one batch. */
export interface BatchRequests {
  /** Adds a request to the batch; the promise settles with its response once the batch was sent. */
  request<const M extends string>(
    method: M,
    params?: object,
    options?: CallOptions,
  ): Promise<ResultOf<M>>
  /** Adds a notification to the batch. */
  notify(method: string, params?: object): void
}

/** Sends the requests and notifications that `build` makes as one JSON-RPC batch. */
export async function sendBatch<const T extends readonly unknown[]>(
  { reconnecting, settings, requests }: Core,
  build: (batch: BatchRequests) => T,
): Promise<AllOf<T>> {
  const opened = await reconnecting.ready()
  const { server, connection } = opened
  if (!hasBatches(settings.profile, server.revision)) {
    throw refused('batch', `no batches in protocol version ${server.revision.name}`)
  }
  return connection.batch(batch =>
    build({
      request: async (method, params, options) => {
        if (settings.strict) checkDeclared(server, method)
        const sent = requests.withRequestMeta(opened, params)
        return checkResult(method, await batch.call(method, sent, options))
      },
      notify: (method, params) => batch.notify(method, params),
    }),
  )
}
