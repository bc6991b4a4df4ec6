import type { HeartbeatReply } from '../backplane/membership.ts'
import type { HttpReply, HttpRequest } from '../http/exchange.ts'
import type { RemoteExchange, RemoteSessions } from '../http/server/remote-sessions.ts'
import type { Endpoint } from '../mcp/endpoint.ts'
import type { NodeLeft } from '../observe/cluster/events.ts'
import {
  addClusterNode,
  type ClusterNodeStatus,
  type ClusterPeer,
} from '../observe/cluster/nodes.ts'
import { events } from '../observe/events.ts'
import { limits } from '../util/limits/limits.ts'
import { Expiry } from '../util/time/expiry.ts'
import { version } from '../util/version.ts'
import { ChangeFanOut } from './change-fan-out.ts'
import { DepartedNodes } from './departed-nodes.ts'
import { onDrainRequest } from './drain-requests.ts'
import { acceptForwarded, type ForwardTarget } from './forward/accept.ts'
import { Forwarder } from './forward/forwarder.ts'
import type { LinkStream, StreamReceiver } from './link/link-stream.ts'
import { Links } from './link/links.ts'
import { Authority } from './members/authority.ts'
import { NodeLease } from './members/lease.ts'
import { factsText, type PeerNode } from './members/peer-node.ts'
import { PeerNodes } from './members/peer-nodes.ts'
import { Suspects } from './members/suspects.ts'
import type { NodeSettings } from './options.ts'
import { keepSecret, sharedSecret } from './secret.ts'
import { Adoption } from './sessions/adoption.ts'
import { OwnerFinder } from './sessions/finder.ts'
import { drainedNotice, Handoff, takeQuestion } from './sessions/handoff.ts'
import { OwnedSessions } from './sessions/owned-sessions.ts'
import { newNodeId, newSessionId } from './sessions/session-ids.ts'

/** What a node needs of the HTTP service whose sessions it shares. */
export interface ClusteredService {
  hasSession(id: string): boolean
  /** Serves a request whose origin and caller were checked by another listener. */
  handleAuthenticated(request: HttpRequest, reply: HttpReply): void
}

/** Where a node serves sessions, and for how long it keeps them. */
export interface ServedSessions {
  readonly path: string
  readonly idleMs: number
}

/** Starts a node: opens the backplane, accepts links and joins the cluster. Rejects if it cannot. */
export async function startNode(
  settings: NodeSettings,
  served: ServedSessions,
): Promise<ClusterNode> {
  await settings.backplane.open()
  const secret = settings.secret ?? (await sharedSecret(settings.backplane.store))
  const node = new ClusterNode(settings, served, secret)
  try {
    await node.join()
  } catch (error) {
    await node.close()
    throw error
  }
  return node
}

/** The head of a stream by which a node notices at once that another one has gone. */
const watchHead = 'watch'

/**
 * This process as a node of a cluster. It serves the requests of sessions that it does not own by forwarding them to
 * their owners, stores its own sessions, and adopts those of nodes that are gone.
 */
export class ClusterNode implements RemoteSessions {
  readonly id = newNodeId()
  readonly #settings: NodeSettings
  readonly #secret: string
  readonly #startedAt = new Date().toISOString()
  readonly #members: PeerNodes
  readonly #links: Links
  readonly #lease: NodeLease
  readonly #authority: Authority
  readonly #suspects: Suspects
  readonly #finder: OwnerFinder
  readonly #forwarder: Forwarder
  readonly #adoption: Adoption
  readonly #departed: DepartedNodes
  readonly #changes: ChangeFanOut
  readonly #served: ServedSessions
  readonly #stopListening: () => void
  #stopObserving = (): void => {}
  #stopDrainRequests = (): void => {}
  #owned: OwnedSessions | undefined
  #handoff: Handoff | undefined
  /** Whether this node has handed off all its sessions. */
  #isDrained = false
  /** The nodes that have handed off all their sessions and ended. */
  readonly #drained: Expiry<string>
  /** The sessions of this process, for all parts that need them. */
  readonly #target: ForwardTarget
  #service: ClusteredService | undefined
  #address = ''
  #state: ClusterPeer['state'] = 'up'
  #emptiedAt = Number.NEGATIVE_INFINITY

  constructor(settings: NodeSettings, served: ServedSessions, secret: string) {
    const { backplane, leaseMs, heartbeatMs, clock, whenDown } = settings
    const { membership, store } = backplane
    const members = new PeerNodes(this.id, leaseMs)
    this.#members = members
    this.#settings = settings
    this.#secret = secret
    this.#served = served
    const links = new Links({
      node: this.id,
      // Nodes find each other through their backplane alone, which keeps clusters apart.
      cluster: 'trunkline',
      secret,
      listen: settings.listen,
      onStream: (stream, head) => this.#accept(stream, head),
      onRequest: question => this.#answer(question),
    })
    this.#links = links
    this.#lease = new NodeLease({
      membership,
      node: this.id,
      facts: () => factsText(this.facts),
      leaseMs,
      heartbeatMs,
      clock,
      onReply: reply => this.#onHeartbeat(reply),
      onFailed: () => void this.#authority.askOthers(),
    })
    this.#authority = new Authority({
      lease: this.#lease,
      members,
      links,
      leaseMs,
      servesWhenDown: whenDown === 'serve',
      clock,
    })
    this.#suspects = new Suspects({
      members,
      membership,
      links,
      clock,
      onExpelled: node => this.#left(members.remove(node), 'expelled'),
    })
    this.#target = {
      has: session => this.#service?.hasSession(session) ?? false,
      mayServe: session => this.mayServe(session),
      serve: (request, reply) => this.#service?.handleAuthenticated(request, reply),
    }
    this.#adoption = new Adoption({
      node: this.id,
      backplane,
      links,
      members,
      authority: this.#authority,
      path: served.path,
      clock,
      has: this.#target.has,
      restore: (...session) => this.sessions.restore(...session),
    })
    this.#departed = new DepartedNodes(this.#adoption, clock)
    this.#finder = new OwnerFinder({
      node: this.id,
      path: served.path,
      store,
      members,
      has: this.#target.has,
      mayServe: this.#target.mayServe,
      isMoving: session => this.#handoff?.isMoving(session) ?? false,
      assert: session => this.#assert(session),
      adopt: (session, owner) => this.#adoption.adopt(session, owner),
      take: session => this.#adoption.take(session),
      mayBeUnwritten: () => clock.now() - this.#emptiedAt < leaseMs,
      refreshMembers: () => this.#lease.beat(),
      suspect: node => this.#suspects.add(node),
      hasDrained: node => this.#drained.leftMs(node) !== undefined,
    })
    this.#forwarder = new Forwarder({
      links,
      sessions: this.#finder,
      clock,
      serveHere: this.#target.serve,
    })
    this.#drained = new Expiry(() => {}, clock)
    this.#changes = new ChangeFanOut(this.id, served.path, backplane.bus)
    this.#stopListening = backplane.onStateChange(({ isUp, wasEmptied }) => {
      events.engineChanged.publish({ engine: backplane.name, isUp, wasEmptied })
      if (wasEmptied) this.#onEmptied()
    })
  }

  /** What this node tells the others about itself. */
  get facts(): ClusterPeer {
    const { name } = this.#settings
    const [address, state, startedAt] = [this.#address, this.#state, this.#startedAt]
    const { path } = this.#served
    return { name, address, path, version, state, startedAt }
  }

  /** What this node reports to observers. */
  status(): ClusterNodeStatus {
    const { backplane } = this.#settings
    return {
      ...this.facts,
      engine: backplane.name,
      isEngineUp: backplane.isUp,
      mayAct: this.#authority.mayAct,
      leaseLeftMs: this.#lease.leftMs,
      sessions: this.sessions.size,
      unsavedSessions: this.sessions.unsaved,
      forwarding: this.#forwarder.size,
      peers: this.#members.all,
    }
  }

  /** Stores the sessions of the service. Passed to the service when it is created. */
  get sessions(): OwnedSessions {
    this.#owned ??= new OwnedSessions({
      node: this.id,
      backplane: this.#settings.backplane,
      address: this.#address,
      ...this.#served,
      onFenced: () => events.sessionFenced.publish({ node: this.#settings.name }),
    })
    return this.#owned
  }

  /** Makes the id of a new session. */
  newSessionId(rest?: () => string): string {
    return newSessionId(this.id, rest)
  }

  /** Accepts links, and joins the cluster. */
  async join(): Promise<void> {
    const bound = await this.#links.listen()
    this.#address = this.#settings.address ?? bound.replace('0.0.0.0', this.#settings.host)
    await this.#lease.start()
    this.#stopObserving = addClusterNode(this)
    const { backplane, onDrain = () => {} } = this.#settings
    this.#stopDrainRequests = await onDrainRequest(backplane.bus, this.id, onDrain)
  }

  /** Serves forwarded requests with a service. Called once, before the service gets requests. */
  async serveWith(service: ClusteredService, endpoint: Endpoint): Promise<void> {
    this.#service = service
    await this.#changes.start(endpoint)
  }

  mayServe(session: string): boolean {
    return this.#authority.mayAct && this.sessions.isAsserted(session)
  }

  serve(session: string, exchange: RemoteExchange): void {
    this.#forwarder.serve(session, exchange)
  }

  /**
   * Hands the sessions of this node to others, as soon as none of their requests is in flight. Resolves when none is
   * left, or after `drainMs`. Never rejects.
   */
  async drain(drainMs: number): Promise<void> {
    const { backplane, clock } = this.#settings
    this.#state = 'draining'
    await this.#lease.beat()
    this.#forwarder.endStreams()
    this.#handoff = new Handoff({
      node: this.id,
      path: this.#served.path,
      store: backplane.store,
      links: this.#links,
      members: this.#members,
      owned: this.sessions,
      finder: this.#finder,
      clock,
    })
    const { size: sessions } = this.sessions
    const startedAt = clock.now()
    const remaining = await this.#handoff.handOffAll(drainMs)
    this.#isDrained = remaining === 0
    if (sessions === 0) return
    const durationMs = clock.now() - startedAt
    events.sessionsHandedOff.publish({ sessions, remaining, durationMs })
  }

  /** Leaves the cluster. Never rejects. */
  async close(): Promise<void> {
    this.#stopListening()
    this.#stopObserving()
    this.#stopDrainRequests()
    this.#suspects.close()
    this.#forwarder.endStreams()
    await this.#changes.stop()
    await this.#lease.stop()
    if (this.#isDrained) await this.#announceEnd()
    await this.#links.close()
  }

  async #announceEnd(): Promise<void> {
    const { default: timeoutMs } = limits.memberAnswerMs
    const tell = (peer: PeerNode) => this.#links.request(peer, drainedNotice + this.id, timeoutMs)
    // A node that does not answer learns of it by its next heartbeat.
    await Promise.allSettled(this.#members.all.map(tell))
  }

  async #answer(question: string): Promise<string> {
    if (question.startsWith(drainedNotice)) {
      const node = question.slice(drainedNotice.length)
      this.#drained.add(node, limits.departedMs.default)
      this.#publishLeft(this.#members.remove(node), 'drained')
      return ''
    }
    if (question.startsWith(takeQuestion)) {
      const { at } = await this.#adoption.take(question.slice(takeQuestion.length))
      return at
    }
    return this.#authority.answer(question) ?? ''
  }

  #accept(stream: LinkStream, head: string): StreamReceiver {
    if (head === watchHead) return watched
    return acceptForwarded(stream, head, this.#target)
  }

  #onHeartbeat(reply: HeartbeatReply): void {
    const { joined, left, missing } = this.#members.apply(reply, this.#settings.clock.now())
    for (const member of joined) this.#joined(member)
    for (const { node } of missing) this.#suspects.add(node)
    for (const member of left) this.#left(member, 'left')
    if (reply.wasExpelled) void this.#regain()
    this.#owned?.flush()
    void this.#departed.resume()
  }

  /** Opens a stream that ends when the other node does. */
  #watch(member: PeerNode): void {
    const { clock, heartbeatMs } = this.#settings
    const isMember = (): boolean => this.#members.get(member.node)?.address === member.address
    this.#links.open(member, watchHead, {
      ...watched,
      failed: () => {
        if (!isMember()) return
        this.#suspects.add(member.node)
        const again = clock.start(() => isMember() && this.#watch(member), heartbeatMs)
        again.unref()
      },
    })
  }

  #joined(member: PeerNode): void {
    const { name: node, address, version: other } = member
    events.nodeJoined.publish({ node, address, version: other })
    this.#watch(member)
  }

  #publishLeft(member: PeerNode | undefined, reason: NodeLeft['reason']): void {
    if (member !== undefined) events.nodeLeft.publish({ node: member.name, reason })
  }

  #left(member: PeerNode | undefined, reason: NodeLeft['reason']): void {
    if (member === undefined) return
    this.#publishLeft(member, reason)
    this.#links.forget(member.node)
    this.#departed.add(member)
  }

  /** The lease had ended, so other nodes may own the sessions by now. */
  async #regain(): Promise<void> {
    this.sessions.unassertAll()
    await this.sessions.assertAll()
  }

  #onEmptied(): void {
    const { clock, backplane } = this.#settings
    this.#emptiedAt = clock.now()
    if (this.#settings.secret === undefined) {
      // A failure means that the engine is down again: its next return calls this once more.
      void keepSecret(backplane.store, this.#secret).catch(() => {})
    }
    void this.sessions.rewriteAll()
  }

  async #assert(session: string): Promise<boolean> {
    if (!this.#authority.mayAct) return false
    return this.sessions.assert(session).catch(() => false)
  }
}

const watched: StreamReceiver = { data() {}, end() {}, failed() {} }
