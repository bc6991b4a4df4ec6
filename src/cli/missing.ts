import type { Members } from '../mcp/types/base.ts'
import { missingKey } from '../router/forward/meta-keys.ts'
import { isRecord } from '../util/record.ts'

/** Takes down what a router says, in `_meta` of a list, of servers that are not in it, and why. */
export function learnMissing(meta: Members, missing: Map<string, string>): void {
  const said = meta[missingKey]
  if (!isRecord(said)) return
  for (const [server, reason] of Object.entries(said)) {
    if (typeof reason === 'string') missing.set(server, reason)
  }
}
