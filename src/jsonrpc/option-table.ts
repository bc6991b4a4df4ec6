import type { OptionTableOf } from '../util/options.ts'
import type { DecodeOptions } from './codec/decode-rules.ts'
import type { PeerOptions } from './peer/options.ts'

/** The options of reading messages, to check what callers have written. */
export const decodeTable: OptionTableOf<DecodeOptions> = {
  maxBytes: 'most',
  maxDepth: 'most',
  maxNodes: 'most',
  maxBatch: 'most',
  maxIdLength: 'most',
  maxMethodLength: 'most',
  nullIds: 'flag',
  fractionalIds: 'flag',
  nullParams: 'flag',
  written: 'any',
  writtenCalls: 'any',
  tooLargeCode: 'number',
  batchTooLargeCode: 'number',
}

/** The options of a peer, to check what callers have written. */
export const peerTable: OptionTableOf<PeerOptions> = {
  timeoutMs: 'ms',
  maxPendingCalls: 'count',
  makeId: 'function',
  // A number or a bigint.
  maxId: 'any',
  onIdLevel: 'function',
  fromWire: 'function',
  deadlines: 'object',
  maxInFlight: 'most',
  maxQueued: 'count',
  endedMs: 'ms',
  onEnded: 'function',
  batches: 'any',
  cancellation: 'any',
  omitsNullIds: 'any',
  toWire: 'function',
  onError: 'function',
  onStray: 'function',
  onMalformed: 'function',
}
