import type { Message } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { methodRow } from '../../mcp/methods.ts'
import { encodeHeader } from '../../mcp/param-headers/encoding.ts'
import { type Revision, revisionNamed } from '../../mcp/revisions/revisions.ts'
import { isRecord } from '../../util/record.ts'
import type { AnnotatedTools } from './param-headers.ts'

/** What stands in `params._meta` as the revision of a message, which only stateless ones say. */
export function statelessVersion(message: Message | readonly Message[]): string | undefined {
  const params = 'params' in message ? message.params : undefined
  const meta = isRecord(params) && isRecord(params._meta) ? params._meta : undefined
  const version = meta?.[metaKeys.protocolVersion]
  return typeof version === 'string' ? version : undefined
}

/** The headers of a stateless message, which repeat parts of it. */
export function statelessHeaders(
  message: Message | readonly Message[],
  version: string,
  tools: AnnotatedTools,
): Record<string, string> {
  const headers: Record<string, string> = { 'mcp-protocol-version': encodeHeader(version) }
  if (!('method' in message)) return headers
  const { method, params } = message
  headers['mcp-method'] = encodeHeader(method)
  const mirrored = methodRow(method)?.mirrors
  const name = mirrored !== undefined && isRecord(params) ? params[mirrored] : undefined
  if (typeof name === 'string') headers['mcp-name'] = encodeHeader(name)
  return method === 'tools/call' ? { ...headers, ...tools.headersOf(params) } : headers
}

/** What a session over HTTP has told, to be said with everything that follows. */
export class SessionHeaders {
  #id: string | undefined
  #revision: Revision | undefined

  get id(): string | undefined {
    return this.#id
  }

  /** Begins anew: `initialize` belongs to no session. */
  clear(): void {
    this.#id = undefined
    this.#revision = undefined
  }

  /** Keeps the id that the answer to `initialize` gives. Returns false for one that no header can carry. */
  takeId(id: string | null): boolean {
    if (id === null) return true
    if (!/^[\x21-\x7e]{1,1024}$/.test(id)) return false
    this.#id = id
    return true
  }

  /** Keeps the revision that the result of `initialize` names. */
  takeResult(result: unknown): void {
    const version = isRecord(result) ? result.protocolVersion : undefined
    this.#revision = typeof version === 'string' ? revisionNamed(version) : undefined
  }

  headers(): Record<string, string> {
    const headers: Record<string, string> = {}
    if (this.#id !== undefined) headers['mcp-session-id'] = this.#id
    if (this.#revision?.features.versionHeader) {
      headers['mcp-protocol-version'] = this.#revision.name
    }
    return headers
  }
}
