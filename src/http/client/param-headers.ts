import { encodeForSend } from '../../jsonrpc/codec/encode.ts'
import { parseRawValue } from '../../jsonrpc/codec/raw-json.ts'
import type { Decoded, Id, Message } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { headerAnnotations } from '../../mcp/param-headers/annotations.ts'
import { encodeHeader } from '../../mcp/param-headers/encoding.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord, ownMember, setMember } from '../../util/objects.ts'

/** The path of an argument, by the name of its header. */
type Annotations = ReadonlyMap<string, readonly string[]>

/** The arguments of tools that are mirrored in headers, read from the results of `tools/list`. */
export class AnnotatedTools {
  readonly #tools = new Map<string, Annotations>()
  readonly #max: number

  constructor(max: number = limits.paramHeaderTools.default) {
    this.#max = max
  }

  /**
   * Reads the result of `tools/list` and returns it without the tools that must not be used over HTTP.
   * `onDropped` is called for each of them.
   */
  learn(result: unknown, onDropped: (tool: string, why: string) => void): unknown {
    if (!isRecord(result) || !Array.isArray(result.tools)) return result
    const kept = result.tools.filter(tool => {
      if (!isRecord(tool) || typeof tool.name !== 'string') return true
      const found = headerAnnotations(tool.inputSchema)
      this.#set(tool.name, found.ok ? found.headers : undefined)
      if (!found.ok) onDropped(tool.name, found.why)
      return found.ok
    })
    return kept.length === result.tools.length ? result : { ...result, tools: kept }
  }

  /** Returns the headers that mirror arguments of a `tools/call`. */
  headersOf(params: unknown): Record<string, string> {
    const headers: Record<string, string> = {}
    if (!isRecord(params) || typeof params.name !== 'string') return headers
    for (const [header, path] of this.#tools.get(params.name) ?? []) {
      const value = textAt(parseRawValue(params.arguments), path)
      if (value !== undefined) setMember(headers, header, value)
    }
    return headers
  }

  #set(name: string, annotations: Annotations | undefined): void {
    this.#tools.delete(name)
    if (annotations === undefined || annotations.size === 0) return
    this.#tools.set(name, annotations)
    const [oldest] = this.#tools.keys()
    if (this.#tools.size > this.#max && oldest !== undefined) this.#tools.delete(oldest)
  }
}

/**
 * Returns the argument at a path as the value of a header; undefined where there is none that a header
 * can carry.
 */
function textAt(value: unknown, path: readonly string[]): string | undefined {
  let at = value
  for (const key of path) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  if (typeof at === 'string') return encodeHeader(at)
  if (typeof at === 'boolean') return String(at)
  return Number.isSafeInteger(at) ? String(at) : undefined
}

/** A call whose headers did not match its arguments. */
export interface MismatchedCall {
  readonly message: Message | readonly Message[]
  /** The ids of the call. */
  readonly waiting: ReadonlySet<Id>
  readonly scope: { readonly isCancelled: boolean }
}

/** Sends a request and passes its reply, or its failure, to `recipient`. */
export type SendRequest = (
  message: Message,
  body: string,
  recipient: { receive(arrival: Decoded): void; failed(): void },
) => void

/**
 * Requests the list of tools again, up to the tool of a call, and resolves to whether the call would
 * have other headers now. Never rejects.
 */
export async function refreshParamHeaders(
  { message, waiting, scope }: MismatchedCall,
  known: AnnotatedTools,
  send: SendRequest,
): Promise<boolean> {
  // Not an id of the caller's: its generated ids are numbers, and this one contains the id of the
  // call.
  const name = `tools-for-${[...waiting].join('-')}`
  const params = 'params' in message && isRecord(message.params) ? message.params : {}
  const headers = () => JSON.stringify(known.headersOf(params))
  const before = headers()
  const meta = ownMember(params, '_meta')
  const _meta = isRecord(meta) ? { ...meta } : {}
  delete _meta[metaKeys.progressToken]
  let cursor: unknown
  for (let page = 0; page < limits.pages.default; page++) {
    const pageParams = { ...(cursor !== undefined && { cursor }), _meta }
    const listed = await list(pageParams, `${name}-${page}`, send)
    if (!isRecord(listed)) return false
    const tools = Array.isArray(listed.tools) ? listed.tools : []
    if (tools.some(tool => isRecord(tool) && tool.name === params.name)) return headers() !== before
    cursor = listed.nextCursor
    if (typeof cursor !== 'string' || scope.isCancelled) return false
  }
  return false
}

/**
 * Resolves to one page of tools, which `Replies` passes to `learn` on the way; undefined for anything
 * else.
 */
function list(params: Record<string, unknown>, id: string, send: SendRequest): Promise<unknown> {
  return new Promise(resolve => {
    const message: Message = { type: 'request', id, method: 'tools/list', params }
    send(message, encodeForSend(message), {
      receive: arrival => {
        if (arrival.type === 'result') resolve(arrival.result)
        else if (arrival.type !== 'notification') resolve(undefined)
      },
      failed: () => resolve(undefined),
    })
  })
}
