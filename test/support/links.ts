import { randomBytes } from 'node:crypto'
import type { LinkError } from '../../src/cluster/link/link-error.ts'
import type { StreamReceiver } from '../../src/cluster/link/link-stream.ts'
import { Links, type LinksOptions } from '../../src/cluster/link/links.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'

/** A node of a test: its links, on a clock of its own. */
export interface LinkNode {
  readonly node: string
  /** Where it listens. */
  readonly address: string
  readonly links: Links
  readonly clock: FakeClock
  /** The messages of the errors that its links have reported. */
  readonly errors: string[]
}

/** Starts nodes of a test, and closes all of them. */
export class LinkNodes {
  readonly #started: Links[] = []

  /** Starts a node that listens on a free port of the loopback interface, unless the options differ. */
  async start(options: Partial<LinksOptions> = {}): Promise<LinkNode> {
    const node = options.node ?? randomBytes(8).toString('hex')
    const clock = fakeClock()
    const errors: string[] = []
    const links = new Links({
      node,
      cluster: 'test',
      secret: 's'.repeat(32),
      listen: 'tcp://127.0.0.1:0',
      onStream: () => new Recorded(),
      onRequest: async text => text,
      onError: error => errors.push(error.message),
      clock,
      ...options,
      // The time for a TLS handshake passes on the clock of the system.
      limits: { connectMs: 60_000, ...options.limits },
    })
    this.#started.push(links)
    return { node, links, clock, errors, address: await links.listen() }
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.splice(0).map(links => links.close()))
  }
}

/** A receiver that records what it gets, as lines of text: `head …`, `data …`, `end` and `failed CODE: …`. */
export class Recorded implements StreamReceiver {
  readonly events: string[] = []
  /** All data. */
  received = Buffer.alloc(0)
  /** Resolves when the other node has ended its direction, or the stream has failed. */
  readonly over: Promise<void>
  #waiting: (() => void)[] = []
  #end: () => void = () => {}

  constructor() {
    this.over = new Promise(resolve => {
      this.#end = resolve
    })
  }

  /** Resolves when the next event has come. */
  next(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  head(head: string): void {
    this.#add(`head ${head}`)
  }

  data(bytes: Uint8Array): void | Promise<void> {
    this.received = Buffer.concat([this.received, bytes])
    this.#add(`data ${Buffer.from(bytes)}`)
  }

  end(): void {
    this.#add('end')
    this.#end()
  }

  failed({ code, message }: LinkError): void {
    this.#add(`failed ${code}: ${message}`)
    this.#end()
  }

  #add(event: string): void {
    this.events.push(event)
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
