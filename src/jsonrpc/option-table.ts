import type { OptionTableOf } from '../util/options.ts'
import type { DecodeOptions } from './codec/decode-rules.ts'
import type { PeerOptions } from './peer/options.ts'

/** The table that checks DecodeOptions. */
export const decodeTable: OptionTableOf<DecodeOptions> = {
  maxBytes: 'max',
  sizes: 'object',
  maxDepth: 'max',
  maxNodes: 'max',
  maxBatch: 'max',
  maxIdLength: 'max',
  maxMethodLength: 'max',
  nullIds: 'boolean',
  fractionalIds: 'boolean',
  nullParams: 'boolean',
  rawResults: 'any',
  rawCalls: 'any',
  tooLargeCode: 'number',
  batchTooLargeCode: 'number',
}

/** The table that checks PeerOptions. */
export const peerTable: OptionTableOf<PeerOptions> = {
  timeoutMs: 'ms',
  maxPendingCalls: 'count',
  makeId: 'function',
  // A number or a bigint.
  maxId: 'any',
  onIdLevel: 'function',
  fromWire: 'function',
  deadlines: 'object',
  maxInFlight: 'max',
  maxQueued: 'count',
  disconnectDrainMs: 'ms',
  onDisconnect: 'function',
  onRetired: 'function',
  onSuspended: 'function',
  batches: 'any',
  cancellation: 'any',
  omitsNullIds: 'any',
  toWire: 'function',
  onError: 'function',
  onStray: 'function',
  onMalformed: 'function',
}
