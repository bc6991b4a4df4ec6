import type { Batch } from '../../jsonrpc/message.ts'
import type { Caller } from '../../mcp/caller.ts'
import { readEnvelope } from '../../mcp/meta.ts'
import type { Profile } from '../../mcp/profile.ts'

/**
 * Whether a batch is taken apart: by what the revision of the session says, or by the profile. Never
 * one with `initialize` in it, nor, where revisions decide, one with a request of a revision that has
 * no batches.
 */
export function takesBatch(
  { batches }: Profile,
  batch: Batch,
  caller: Caller | undefined,
): boolean {
  if (batches === 'never' || batch.entries.some(isInitialize)) return false
  if (batches === 'always') return true
  return caller?.revision.batches === true && !batch.entries.some(speaksForItself)
}

type Entry = Batch['entries'][number]

function isInitialize(entry: Entry): boolean {
  return entry.type === 'request' && entry.method === 'initialize'
}

function speaksForItself(entry: Entry): boolean {
  return entry.type === 'request' && readEnvelope(entry.params) !== undefined
}
