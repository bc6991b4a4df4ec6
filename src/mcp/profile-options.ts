import type { DecodeOptions } from '../jsonrpc/codec/decode.ts'
import type { PeerOptions } from '../jsonrpc/peer/options.ts'
import type { Endpoint } from './endpoint.ts'
import type { Era } from './errors/codes.ts'
import { fromWire, toWire } from './errors/wire.ts'
import type { Profile } from './profile.ts'

/** What a profile means for reading messages. */
export function decodeOptions(profile: Profile): DecodeOptions {
  const { nullIds, fractionalIds, nullParams, tooLargeCode, batchTooLargeCode } = profile
  return { nullIds, fractionalIds, nullParams, tooLargeCode, batchTooLargeCode }
}

/** How an endpoint wants to have messages read that are sent to it. */
export function readingFor({ profile, writtenCalls }: Endpoint): DecodeOptions {
  return { ...decodeOptions(profile), writtenCalls }
}

/** What a profile means for a peer, beside the revision it speaks where there is one. */
export function peerOptions(
  profile: Profile,
  revision?: { readonly era: Era; readonly batches: boolean },
): Pick<PeerOptions, 'batches' | 'toWire' | 'fromWire'> {
  return {
    batches:
      profile.batches === 'auto' ? (revision?.batches ?? false) : profile.batches === 'always',
    toWire: error => toWire(error, { profile, revision }),
    fromWire: error => fromWire(error, { profile, revision }),
  }
}
