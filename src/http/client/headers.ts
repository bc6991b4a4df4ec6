import type { Message } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { mirroredParam } from '../../mcp/methods.ts'
import { encodeHeader } from '../../mcp/param-headers/encoding.ts'
import { type Revision, revisionNamed } from '../../mcp/revisions/revisions.ts'
import { isRecord, ownMember } from '../../util/objects.ts'
import type { AnnotatedTools } from './param-headers.ts'

/** Returns the revision in `params._meta`, which only stateless messages have. */
export function statelessVersion(message: Message | readonly Message[]): string | undefined {
  const params = 'params' in message ? message.params : undefined
  const meta = ownMember(params, '_meta')
  const version = ownMember(meta, metaKeys.protocolVersion)
  return typeof version === 'string' ? version : undefined
}

/** Returns the headers of a stateless message, which mirror parts of it. */
export function statelessHeaders(
  message: Message | readonly Message[],
  version: string,
  tools: AnnotatedTools,
): Record<string, string> {
  const headers: Record<string, string> = { 'mcp-protocol-version': encodeHeader(version) }
  if (!('method' in message)) return headers
  const { method, params } = message
  headers['mcp-method'] = encodeHeader(method)
  const mirrored = mirroredParam(method)
  const name = mirrored !== undefined && isRecord(params) ? params[mirrored] : undefined
  if (typeof name === 'string') headers['mcp-name'] = encodeHeader(name)
  return method === 'tools/call' ? { ...headers, ...tools.headersOf(params) } : headers
}

/**
 * The headers of a session, taken from the response to `initialize` and sent with every further
 * message.
 */
export class SessionHeaders {
  #id: string | undefined
  #revision: Revision | undefined

  get id(): string | undefined {
    return this.#id
  }

  /** Forgets the session, because `initialize` belongs to none. */
  clear(): void {
    this.#id = undefined
    this.#revision = undefined
  }

  /**
   * Stores the id from the response to `initialize`. Returns false for an id that cannot be sent in a
   * header.
   */
  setId(id: string | null): boolean {
    if (id === null) return true
    if (!/^[\x21-\x7e]{1,1024}$/.test(id)) return false
    this.#id = id
    return true
  }

  /** Stores the revision in the result of `initialize`. */
  setRevision(result: unknown): void {
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
