import { newest, type Revision } from '../../mcp/revisions/revisions.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import type { FramingName } from '../../wire/frame.ts'
import type { Finding } from './finding.ts'
import { CheckSession } from './session.ts'
import { type CheckTarget, endpointOf, openWire } from './target.ts'
import { ChildWire } from './wire/child-wire.ts'
import { HttpWire } from './wire/http-wire.ts'
import type { MessageObject, Wire } from './wire/wire.ts'

/** The server to check, and how. */
export interface CheckOptions {
  readonly where: CheckTarget
  readonly headers?: Readonly<Record<string, string>>
  readonly framing?: FramingName
  /** Time to wait for each response; by default the limit `checkReplyMs`. */
  readonly timeoutMs?: number
  readonly era?: 'auto' | Revision['era']
  /** Restricts the protocol revisions; by default all are allowed. */
  readonly revisions?: readonly Revision[]
  /** Aborts the check. */
  readonly signal: AbortSignal
}

/** A session with the server in one era, with what the server said about itself and what its lists hold. */
export interface EraState {
  readonly session: CheckSession
  /** Result of `initialize` or `server/discover`. */
  readonly description: MessageObject
  readonly capabilities: MessageObject
  /** Entries by list method, once the step `lists` has read them. */
  readonly lists: Map<string, readonly MessageObject[]>
}

/** State that the steps of a check share: connections to the server, and the findings of earlier steps. Close it. */
export class CheckContext {
  readonly where: CheckTarget
  /** The URL of the server, if every message to it is a separate HTTP request. */
  readonly endpoint: URL | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Time to wait before concluding that no response will come. */
  readonly noReplyMs: number = limits.checkNoReplyMs.default
  readonly signal: AbortSignal
  /** Open sessions, one per era that the server supports. */
  readonly eras: EraState[] = []
  /** Every process that was started. */
  readonly children: ChildWire[] = []
  /** Time to wait for the first response of a program, which may have to be downloaded. */
  startMs: number
  /** Whether the server supports only the HTTP+SSE transport. */
  isHttpSse = false
  /** Why the remaining steps cannot run. */
  blocked: string | undefined
  readonly #options: CheckOptions
  readonly #wires: Wire[] = []
  #spare: Wire | undefined

  constructor(options: CheckOptions) {
    this.#options = options
    this.where = options.where
    this.endpoint = endpointOf(options.where)
    this.headers = options.headers ?? {}
    this.timeoutMs = options.timeoutMs ?? limits.checkReplyMs.default
    this.startMs = options.timeoutMs ?? limits.checkStartMs.default
    this.signal = options.signal
  }

  /** Returns the newest allowed revision of an era; undefined if the era is excluded. */
  revisionFor(era: Revision['era']): Revision | undefined {
    const { era: only = 'auto', revisions } = this.#options
    // The transport is older than the stateless era.
    if (this.isHttpSse && era === 'stateless') return undefined
    return only === 'auto' || only === era ? newest(era, revisions) : undefined
  }

  /** Opens a connection to the server, or returns the one given to `keep`. */
  async open(): Promise<Wire> {
    this.signal.throwIfAborted()
    const spare = this.#spare
    this.#spare = undefined
    if (spare !== undefined) return spare
    const wire = await this.#connect()
    this.#wires.push(wire)
    return wire
  }

  /** Keeps a connection that was opened as a test, for the next call of `open`. */
  keep(wire: Wire): void {
    this.#spare = wire
  }

  /** Opens an HTTP connection with extra headers; undefined if the server is not reached over HTTP. */
  openHttp(headers: Readonly<Record<string, string>> = {}): HttpWire | undefined {
    if (this.endpoint === undefined) return undefined
    const wire = new HttpWire(this.endpoint, { ...this.headers, ...headers }, this.timeoutMs)
    this.#wires.push(wire)
    return wire
  }

  /** Opens a session of a revision over a connection of its own. */
  async openSession(revision: Revision): Promise<CheckSession> {
    const firstMs = this.where.kind === 'child' ? this.startMs : this.timeoutMs
    return new CheckSession(await this.open(), revision, this.timeoutMs, firstMs)
  }

  /**
   * Runs a check in every era that the server supports. A finding that is the same in both eras is returned
   * once; the message of any other finding starts with its era.
   */
  async inEachEra(
    check: (state: EraState) => Promise<readonly Finding[]>,
  ): Promise<readonly Finding[]> {
    const found: (readonly [era: string, finding: Finding])[] = []
    for (const state of this.eras) {
      for (const finding of await check(state)) found.push([state.session.era, finding])
    }
    if (this.eras.length < 2) return found.map(([, finding]) => finding)
    const eras = new Map<string, { readonly finding: Finding; readonly in: Set<string> }>()
    for (const [era, finding] of found) {
      const key = JSON.stringify(finding)
      const seen = eras.get(key) ?? { finding, in: new Set() }
      eras.set(key, seen)
      seen.in.add(era)
    }
    return Array.from(eras.values(), ({ finding, in: spoken }) =>
      spoken.size === this.eras.length
        ? finding
        : { ...finding, message: `${[...spoken].join()}: ${finding.message}` },
    )
  }

  /** Removes the eras whose connection is closed. With none left, the remaining steps are blocked. */
  dropClosedEras(): void {
    const kept = this.eras.filter(({ session }) => session.wire.incoming.closedReason === undefined)
    if (kept.length === this.eras.length) return
    this.eras.splice(0, this.eras.length, ...kept)
    if (kept.length === 0) this.blocked ??= 'the server is no longer connected'
  }

  /** Closes every connection to the server. */
  async close(): Promise<void> {
    await Promise.all(this.#wires.map(wire => wire.close()))
  }

  async #connect(): Promise<Wire> {
    const { headers, timeoutMs, isHttpSse } = this
    const { framing } = this.#options
    const wire = await openWire(this.where, { headers, framing, timeoutMs, isHttpSse })
    if (wire instanceof ChildWire) this.children.push(wire)
    return wire
  }
}

/** Returns the value if it is an object, else an empty object. */
export function members(value: unknown): MessageObject {
  return isRecord(value) ? value : {}
}
