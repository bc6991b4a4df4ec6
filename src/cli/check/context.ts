import type { Address } from '../../address.ts'
import { newest, type Revision } from '../../mcp/revisions/revisions.ts'
import type { ChildCommand } from '../../transport/process/child.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { FramingName } from '../../wire/frame.ts'
import { type ChildWire, childWire } from './child-wire.ts'
import type { Finding } from './finding.ts'
import { HttpWire } from './http-wire.ts'
import { Talk } from './session.ts'
import { socketWire, websocketWire } from './socket-wire.ts'
import type { Heard, Wire } from './wire.ts'

/** Where the server is that is looked at. */
export type Where = Address | { readonly kind: 'child'; readonly command: ChildCommand }

/** What is looked at, and how. */
export interface ProbeOptions {
  readonly where: Where
  readonly headers?: Readonly<Record<string, string>>
  readonly framing?: FramingName
  /** How long each answer may take. */
  readonly timeoutMs?: number
  readonly era?: 'auto' | Revision['era']
  /** The only revisions that may be spoken. */
  readonly revisions?: readonly Revision[]
  /** Stops everything. */
  readonly signal: AbortSignal
}

/** What a server said of itself, and what was found in its lists. */
export interface Known {
  readonly talk: Talk
  readonly description: Heard
  readonly capabilities: Heard
  /** From the method of a list to its entries. */
  readonly lists: Map<string, readonly Heard[]>
}

/** What the steps of a check share: ways to the server, and what earlier steps have learnt. */
export class Probe {
  readonly where: Where
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly silenceMs: number = limits.checkSilenceMs.default
  readonly signal: AbortSignal
  /** The eras that the server speaks, as far as they were tried. */
  readonly known: Known[] = []
  /** Every program that was started. */
  readonly children: ChildWire[] = []
  /** Why the steps that follow cannot be taken. */
  blocked: string | undefined
  readonly #options: ProbeOptions
  readonly #wires: Wire[] = []
  #spare: Wire | undefined

  constructor(options: ProbeOptions) {
    this.#options = options
    this.where = options.where
    this.headers = options.headers ?? {}
    this.timeoutMs = options.timeoutMs ?? limits.checkReplyMs.default
    this.signal = options.signal
  }

  /** The revision to begin with in an era; undefined where that era is not wanted. */
  wanted(era: Revision['era']): Revision | undefined {
    const { era: only = 'auto', revisions } = this.#options
    return only === 'auto' || only === era ? newest(era, revisions) : undefined
  }

  /** A new way to the server; the one that `keep` was given comes first. */
  async open(): Promise<Wire> {
    this.signal.throwIfAborted()
    const spare = this.#spare
    this.#spare = undefined
    if (spare !== undefined) return spare
    const wire = await this.#connect()
    this.#wires.push(wire)
    return wire
  }

  /** Keeps a way that was opened to find out whether one can be. */
  keep(wire: Wire): void {
    this.#spare = wire
  }

  /** A way over HTTP; undefined where the server is reached otherwise. */
  openHttp(headers: Readonly<Record<string, string>> = {}): HttpWire | undefined {
    if (this.where.kind !== 'http') return undefined
    const wire = new HttpWire(this.where.url, { ...this.headers, ...headers }, this.timeoutMs)
    this.#wires.push(wire)
    return wire
  }

  /** A conversation in the words of a revision, over a way of its own. */
  async talk(revision: Revision): Promise<Talk> {
    return new Talk(await this.open(), revision, this.timeoutMs)
  }

  /**
   * Looks at each era that the server speaks. What is the same in both is told once; the rest is told
   * with the era in front, where there are two.
   */
  async inEach(look: (known: Known) => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
    const found: (readonly [era: string, finding: Finding])[] = []
    for (const known of this.known) {
      for (const finding of await look(known)) found.push([known.talk.era, finding])
    }
    if (this.known.length < 2) return found.map(([, finding]) => finding)
    const eras = new Map<string, { readonly finding: Finding; readonly in: Set<string> }>()
    for (const [era, finding] of found) {
      const key = JSON.stringify(finding)
      const seen = eras.get(key) ?? { finding, in: new Set() }
      eras.set(key, seen)
      seen.in.add(era)
    }
    return Array.from(eras.values(), ({ finding, in: spoken }) =>
      spoken.size === this.known.length
        ? finding
        : { ...finding, saw: `${[...spoken].join()}: ${finding.saw}` },
    )
  }

  /** Leaves out the conversations that a step did not survive; with none left, nothing can follow. */
  forgetLost(): void {
    const kept = this.known.filter(({ talk }) => talk.wire.inbox.gone === undefined)
    if (kept.length === this.known.length) return
    this.known.splice(0, this.known.length, ...kept)
    if (kept.length === 0) this.blocked ??= 'the server is gone'
  }

  /** Ends every way to the server. */
  async close(): Promise<void> {
    await Promise.all(this.#wires.map(wire => wire.close()))
  }

  async #connect(): Promise<Wire> {
    const { where } = this
    switch (where.kind) {
      case 'child': {
        const wire = await childWire(where.command, this.#options.framing)
        this.children.push(wire)
        return wire
      }
      case 'tcp':
      case 'unix':
      case 'pipe':
        return socketWire(where, this.#options.framing)
      case 'websocket':
        return websocketWire(where.url, this.headers)
      case 'http':
        return new HttpWire(where.url, this.headers, this.timeoutMs)
      case 'stdio':
        throw new TypeError('"stdio:" is no server to look at')
    }
  }
}

/** The members of what should be an object; none where it is something else. */
export function members(value: unknown): Heard {
  return isRecord(value) ? value : {}
}
