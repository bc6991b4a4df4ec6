import { metaKeys } from '../mcp/meta.ts'
import { isRecord } from '../util/record.ts'

/** Who makes a call, as far as it is known. */
export interface CallerFacts {
  /** Who was let in; the only part of this that somebody has checked. */
  readonly principal?: string
  /** What the client calls itself. */
  readonly client?: { readonly name: string; readonly version: string }
  /** The revision of the protocol that it speaks. */
  readonly revision?: string
  readonly era?: 'session' | 'stateless'
}

/** What `initialize` has settled for a connection; undefined while it has not. */
export type Introduction = Pick<CallerFacts, 'client' | 'revision' | 'era'>

/** What a client has said of itself with `initialize`, once that has been answered. */
export function introductionOf(params: unknown, result: unknown): Introduction {
  const client = clientIn(isRecord(params) ? params.clientInfo : undefined)
  const revision = textIn(isRecord(result) ? result.protocolVersion : undefined)
  return { client, revision, era: 'session' }
}

/** Who makes a call: a request of a stateless revision tells it by itself, any other has told before. */
export function callerOf(
  params: unknown,
  principal: string | undefined,
  introduction: Introduction | undefined,
): CallerFacts {
  const meta = isRecord(params) ? params._meta : undefined
  const revision = textIn(isRecord(meta) ? meta[metaKeys.protocolVersion] : undefined)
  if (!isRecord(meta) || revision === undefined) return { ...introduction, principal }
  return { principal, client: clientIn(meta[metaKeys.clientInfo]), revision, era: 'stateless' }
}

function clientIn(info: unknown): CallerFacts['client'] {
  if (!isRecord(info)) return undefined
  const { name, version } = info
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : undefined
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
