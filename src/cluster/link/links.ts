import { parsePskAddress } from '../../transport/psk/address.ts'
import type { ByteSocket } from '../../transport/psk/byte-socket.ts'
import { connectPsk } from '../../transport/psk/connect.ts'
import { type PskKey, pskKey } from '../../transport/psk/key.ts'
import { listenPsk, type PskListener } from '../../transport/psk/listen.ts'
import { type AddressState, probeAddress } from '../../transport/psk/probe.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { isNodeId } from './hello.ts'
import { IncomingLink, type LinkHandlers } from './incoming.ts'
import { LinkError } from './link-error.ts'
import type { LinkStream, StreamReceiver } from './link-stream.ts'
import { failedStream, type LinkPeer, OutgoingLink } from './outgoing.ts'
import { type LinkLimits, type LinkSettings, linkLimits } from './settings.ts'

/** Options of `Links`. */
export interface LinksOptions extends LinkHandlers {
  /** The id of this node: 16 hexadecimal digits. */
  readonly node: string
  /** The name of the cluster. Nodes of another cluster are refused. */
  readonly cluster: string
  /** The secret of the cluster, at least 32 bytes. Over TCP it authenticates both nodes and encrypts everything. */
  readonly secret: string
  /** Where to listen: `tcp://127.0.0.1:0` or `unix:/path`. Only this user can connect to a Unix socket. */
  readonly listen: string
  /** Called for each connection that was refused and each link of another node that ended. */
  readonly onError?: (error: Error) => void
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<LinkLimits>
  /** The clock for all timeouts; for tests. */
  readonly clock?: Clock
}

/**
 * The links of this node to the other nodes of its cluster. A link is one connection for each direction between two
 * nodes, opened on first use and kept; it carries many streams and small requests.
 */
export class Links {
  readonly #options: LinksOptions
  readonly #settings: LinkSettings
  readonly #key: PskKey
  readonly #outgoing = new Map<string, OutgoingLink>()
  readonly #incoming = new Set<IncomingLink>()
  /** The number of links whose sockets have not closed. */
  #sockets = 0
  #listening: Promise<PskListener> | undefined
  #closing: Promise<void> | undefined
  #allClosed: Deferred<void> | undefined

  /** Throws a TypeError or RangeError that names an option that cannot be used. */
  constructor(options: LinksOptions) {
    const { node, cluster, secret, listen, limits, clock = systemClock } = options
    if (!isNodeId(node))
      throw new TypeError(`the node id "${node}" must have 16 hexadecimal digits`)
    if (cluster === '' || cluster.length > maxNameLength) {
      throw new RangeError(`the name of a cluster needs 1 to ${maxNameLength} characters`)
    }
    parsePskAddress(listen)
    this.#options = options
    this.#settings = { node, cluster, clock, limits: { ...linkLimits, ...limits } }
    this.#key = pskKey(secret, cluster, 'trunkline link')
  }

  /** Accepts links of other nodes. Resolves with the bound address; rejects with a ChannelError that names it. */
  async listen(): Promise<string> {
    if (this.#closing !== undefined) throw this.#closedError()
    this.#listening ??= listenPsk(this.#options.listen, {
      key: this.#key,
      handshakeMs: this.#settings.limits.connectMs,
      accept: socket => this.#accept(socket),
      onError: error => this.#options.onError?.(error),
    })
    const { address } = await this.#listening
    return address
  }

  /**
   * Opens a stream to another node, over the link that is kept to it. Never throws, and never calls the receiver during
   * the call: a stream that cannot be opened fails later.
   */
  open(peer: LinkPeer, head: string, receiver: StreamReceiver): LinkStream {
    const link = this.#linkTo(peer)
    return link instanceof LinkError ? failedStream(receiver, link) : link.open(head, receiver)
  }

  /** Asks another node a small question. Rejects with a LinkError. */
  request(peer: LinkPeer, text: string, timeoutMs: number): Promise<string> {
    const link = this.#linkTo(peer)
    return link instanceof LinkError ? Promise.reject(link) : link.request(text, timeoutMs)
  }

  /**
   * Opens a connection to an address and closes it at once, to find out whether a process listens there. Throws a
   * TypeError for an address that cannot be read.
   */
  probe(address: string, timeoutMs: number): Promise<AddressState> {
    return probeAddress(address, timeoutMs, this.#settings.clock)
  }

  /** Ends the links to and from a node that has left the cluster. */
  forget(node: string): void {
    const reason = `node ${node} has left the cluster`
    this.#outgoing.get(node)?.close(reason, 'refused')
    for (const link of [...this.#incoming]) if (link.from === node) link.close(reason)
  }

  /** Ends all links and stops listening, in bounded time. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const reason = `node ${this.#settings.node} closes its links`
    for (const link of [...this.#outgoing.values()]) link.close(reason, 'closed')
    for (const link of [...this.#incoming]) link.close(reason)
    if (this.#sockets > 0) {
      this.#allClosed = deferred()
      await this.#allClosed.promise
    }
    const listener = await this.#listening?.catch(() => undefined)
    await listener?.close()
  }

  #linkTo(peer: LinkPeer): OutgoingLink | LinkError {
    const kept = this.#outgoing.get(peer.node)
    if (kept !== undefined) return kept
    if (this.#closing !== undefined) return this.#closedError()
    try {
      const dial = (connected: () => void): ByteSocket =>
        connectPsk(peer.address, this.#key, connected)
      const link: OutgoingLink = new OutgoingLink(peer, this.#settings, dial, {
        ended: () => {
          if (this.#outgoing.get(peer.node) === link) this.#outgoing.delete(peer.node)
        },
        closed: this.#onClosed,
      })
      this.#sockets++
      this.#outgoing.set(peer.node, link)
      return link
    } catch (error) {
      return new LinkError('refused', `connecting to node ${peer.node}: ${errorMessage(error)}`)
    }
  }

  #accept(socket: ByteSocket): void {
    if (this.#closing !== undefined) {
      socket.destroy()
      return
    }
    const link: IncomingLink = new IncomingLink(socket, this.#settings, this.#options, {
      ended: error => {
        this.#incoming.delete(link)
        this.#options.onError?.(error)
      },
      closed: this.#onClosed,
    })
    this.#sockets++
    this.#incoming.add(link)
  }

  #onClosed = (): void => {
    if (--this.#sockets === 0) this.#allClosed?.resolve()
  }

  #closedError(): LinkError {
    return new LinkError('closed', `node ${this.#settings.node} has closed its links`)
  }
}

const maxNameLength = 100
