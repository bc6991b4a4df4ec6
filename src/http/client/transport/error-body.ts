import { decodeBy } from '../../../jsonrpc/codec/decode.ts'
import type { DecodeRules } from '../../../jsonrpc/codec/decode-rules.ts'
import type { RpcFailure } from '../../../jsonrpc/message.ts'
import { isRecord } from '../../../util/objects.ts'

/** What the body of a rejection says. */
export interface ErrorBody {
  /** The JSON-RPC error in it. */
  readonly failure?: RpcFailure
  /** Why the request was rejected, in one short line without control characters. */
  readonly words?: string
}

/** Reads the body of a rejection: a JSON-RPC error, the error of another protocol, plain text, or a web page. */
export function errorBodyOf(bytes: Uint8Array, type: string, rules: DecodeRules): ErrorBody {
  if (type === 'application/json') {
    const found = decodeBy(bytes, rules)
    if (found.type === 'error') return { failure: found, words: shortLine(found.error.message) }
  }
  if (!mayBeText(type)) return {}
  const text = new TextDecoder().decode(bytes).trim()
  if (/^[{[]/.test(text)) return { words: shortLine(memberOf(text)) }
  if (text.startsWith('<')) return { words: shortLine(titleOf(text)) }
  return { words: shortLine(text) }
}

function mayBeText(type: string): boolean {
  return type === '' || type.startsWith('text/') || type.endsWith('json')
}

/** Members that frameworks and RFC 9457, RFC 6749 and others put the reason into. */
const reasons = ['error_description', 'detail', 'message', 'error', 'title'] as const

function memberOf(text: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { error } = value
  const found = [value, isRecord(error) ? error : {}]
    .flatMap(from => reasons.map(name => from[name]))
    .find(one => typeof one === 'string' && one !== '')
  return typeof found === 'string' ? found : undefined
}

function titleOf(html: string): string | undefined {
  const [, text] = /<(?:title|pre|h1)\b[^>]*>([^<]{1,300})</i.exec(html) ?? []
  return text === 'Error' ? /<pre\b[^>]*>([^<]{1,300})</i.exec(html)?.[1] : text
}

/** The maximum length of the words. */
const maxCharacters = 200

/** Returns the first line of a text, made harmless for terminals and logs; undefined if nothing is left. */
function shortLine(text: string | undefined): string | undefined {
  const [line = ''] = (text ?? '').trim().split(/[\r\n]/, 1)
  const plain = line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '').trim()
  if (plain === '') return undefined
  return plain.length <= maxCharacters ? plain : `${plain.slice(0, maxCharacters - 1)}…`
}
