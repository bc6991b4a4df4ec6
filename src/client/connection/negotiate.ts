import { type Channel, ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { newest, type Revision, revisionsOf } from '../../mcp/revisions/revisions.ts'
import { implementationFor } from '../../mcp/revisions/shape.ts'
import type {
  ClientCapabilities,
  Implementation,
  ServerCapabilities,
} from '../../mcp/types/base.ts'
import { isRecord, stringsIn } from '../../util/objects.ts'
import { abortable } from '../../util/promises.ts'
import { isLost, isOutage, isUnsent } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { Connection, type ConnectionHandlers } from './connection.ts'
import { withSafeIcons } from './icons.ts'
import { senderMeta, withMeta } from './request-meta.ts'
import { cachedRevision, forgetVersion, storeVersion } from './version-cache.ts'

/** Opens a channel to the server. Called for the first connection and for each reconnect. */
export type Dial = () => Promise<Channel>

/** What a server says of itself. Its name must not be used for decisions. */
export interface ServerDescription extends Implementation {
  /** The features that the server has declared, such as tools and resources. */
  readonly capabilities: ServerCapabilities
  /** How to use the server, written for the model. */
  readonly instructions?: string
  /** The negotiated protocol revision. */
  readonly revision: Revision
}

/** A connection whose protocol revision has been negotiated. */
export interface Negotiated {
  readonly connection: Connection
  readonly server: ServerDescription
}

/** Parameters of a negotiation. */
export interface Opening {
  readonly dial: Dial
  readonly handlers: ConnectionHandlers
  readonly settings: Settings
  readonly capabilitiesOf: (revision: Revision) => ClientCapabilities
  /** Aborts the negotiation and closes the connection. */
  readonly signal?: AbortSignal
}

/**
 * Connects to a server and negotiates the protocol revision.
 *
 * The client sends `server/discover`. A server that returns a DiscoverResult is stateless. Any other
 * response, silence, or a server that closes the connection means a session, which starts with
 * `initialize`, on a new connection if needed. Where each request has a stream of its own, silence and
 * transport failures say nothing about the server, and the negotiation fails with them. An entry in the
 * version cache saves the probe; a wrong entry is detected. Rejects with a ChannelError `'refused'` if
 * client and server have no revision in common.
 */
export async function open(opening: Opening): Promise<Negotiated> {
  const { settings } = opening
  const newestStateless = newest('stateless', settings.revisions)
  const isEither =
    newestStateless !== undefined && newest('session', settings.revisions) !== undefined
  if (newestStateless === undefined) return openSession(opening, await dialed(opening))
  if (!isEither) return openStateless(opening, await dialed(opening), newestStateless)
  const cached = cachedRevision(settings)
  if (cached?.features.identity === 'session') {
    const opened = await openCached(opening)
    if (opened !== undefined) return opened
  }
  // A server that was stateless before is slow rather than of the other era.
  const waitMs = cached === newestStateless ? settings.timeoutMs : settings.discoverTimeoutMs
  const opened = await openEither(opening, newestStateless, waitMs)
  storeVersion(settings, opened.server.revision.era)
  return opened
}

async function openEither(
  opening: Opening,
  preferred: Revision,
  waitMs: number,
): Promise<Negotiated> {
  const connection = await dialed(opening)
  const found = await orClose(connection, () => discover(opening, connection, preferred, waitMs))
  if (found.server !== undefined) return { connection, server: found.server }
  try {
    return await openSession(opening, connection.isOpen ? connection : await dialed(opening))
  } catch (error) {
    // A server that was silent may just have been slow: its error to initialize then lists its revisions.
    if (!supportsStateless(error, opening)) throw error
    return openStateless(opening, await dialed(opening), preferred)
  }
}

/** Opens a session as the version cache says; undefined if the server refuses, because the entry is wrong. */
async function openCached(opening: Opening): Promise<Negotiated | undefined> {
  try {
    return await openSession(opening, await dialed(opening))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    forgetVersion(opening.settings)
    return undefined
  }
}

async function openStateless(
  opening: Opening,
  connection: Connection,
  preferred: Revision,
): Promise<Negotiated> {
  return orClose(connection, async () => {
    const { timeoutMs } = opening.settings
    const found = await discover(opening, connection, preferred, timeoutMs)
    if (found.server !== undefined) return { connection, server: found.server }
    const why = 'the server does not answer server/discover as a stateless server'
    const { cause } = found
    if (cause instanceof RpcError && supportedIn(cause) === undefined) {
      // It answered, but not as a stateless server, so it has sessions, or speaks another protocol.
      const [first, last] = [revisionsOf('session').at(0), revisionsOf('session').at(-1)]
      const theirs = `only versions with sessions (${first?.name} to ${last?.name})`
      throw nothingInCommon([theirs], opening.settings, cause)
    }
    const reason = cause instanceof Error ? `${why}: ${cause.message}` : why
    throw new ChannelError('refused', `opening: ${reason}`, { cause })
  })
}

/** What `server/discover` has found: a stateless server, or why the server is not known as one. */
type Finding =
  | { readonly server: ServerDescription; readonly cause?: undefined }
  | { readonly server?: undefined; readonly cause: unknown }

async function discover(
  opening: Opening,
  connection: Connection,
  preferred: Revision,
  timeoutMs: number,
): Promise<Finding> {
  const { settings } = opening
  const waitMs = connection.hasStreams ? settings.timeoutMs : timeoutMs
  // A server that rejects a revision that it then lists as supported gets a second attempt, and no third.
  let revision = preferred
  for (let attempt = 1; ; attempt++) {
    try {
      const found = readDiscovery(
        await sendDiscover(opening, connection, revision, { attempt, timeoutMs: waitMs }),
        settings,
      )
      if (found.server !== undefined) connection.revision = found.server.revision
      return found
    } catch (error) {
      opening.signal?.throwIfAborted()
      if (connection.hasStreams && isOutage(error)) throw error
      const supported = isUnsupportedVersion(error) ? supportedIn(error) : undefined
      if (supported === undefined) return { cause: error }
      const next = common(supported, settings, 'stateless')
      if (next === undefined || attempt === 2) {
        if (common(supported, settings, 'session') !== undefined) return { cause: error }
        throw nothingInCommon(supported, settings, error)
      }
      revision = next
    }
  }
}

function sendDiscover(
  opening: Opening,
  connection: Connection,
  revision: Revision,
  { attempt, timeoutMs }: { readonly attempt: number; readonly timeoutMs: number },
): Promise<unknown> {
  const { info } = opening.settings
  const capabilities = opening.capabilitiesOf(revision)
  const params = withMeta(undefined, { sender: senderMeta({ revision, capabilities, info }) })
  // No cancellation on timeout, because a server with sessions would receive it before initialize.
  const options = { id: `discover-${attempt}`, timeoutMs, silent: true }
  return orAbort(opening, connection, connection.call('server/discover', params, options))
}

function readDiscovery(result: unknown, settings: Settings): Finding {
  const supported = isRecord(result) ? stringsIn(result.supportedVersions) : undefined
  if (!isRecord(result) || supported === undefined || !isRecord(result.capabilities)) {
    return { cause: new ChannelError('framing', 'the response is not a DiscoverResult') }
  }
  const revision = common(supported, settings, 'stateless')
  if (revision !== undefined) return { server: described(result, revision) }
  return { cause: nothingInCommon(supported, settings) }
}

async function openSession(opening: Opening, connection: Connection): Promise<Negotiated> {
  return orClose(connection, async () => {
    let wanted = newest('session', opening.settings.revisions)
    for (let attempt = 1; ; attempt++) {
      // The check: openSession is called only if there is a session revision.
      const revision = wanted as Revision
      try {
        return { connection, server: await initialize(opening, connection, revision) }
      } catch (error) {
        wanted = common(supportedIn(error) ?? [], opening.settings, 'session')
        if (wanted === undefined || wanted === revision || attempt === 2) throw error
      }
    }
  })
}

async function initialize(
  opening: Opening,
  connection: Connection,
  wanted: Revision,
): Promise<ServerDescription> {
  const { settings } = opening
  const introduction = {
    protocolVersion: wanted.name,
    capabilities: opening.capabilitiesOf(wanted),
    clientInfo: implementationFor(wanted, settings.info),
  }
  const params = withMeta(introduction, {})
  const result = await orAbort(
    opening,
    connection,
    connection.call('initialize', params, { silent: true }),
  )
  if (!isRecord(result) || typeof result.protocolVersion !== 'string') {
    throw new ChannelError(
      'framing',
      'opening: the response to initialize is not an InitializeResult',
    )
  }
  const revision = common([result.protocolVersion], settings, 'session')
  if (revision === undefined) throw nothingInCommon([result.protocolVersion], settings)
  connection.revision = revision
  connection.notify('notifications/initialized')
  return described(result, revision)
}

function described(
  result: Readonly<Record<string, unknown>>,
  revision: Revision,
): ServerDescription {
  const meta = isRecord(result._meta) ? result._meta : {}
  // Top-level in sessions; in `_meta` in stateless revisions, whose drafts had it top-level too.
  const info = result.serverInfo ?? meta[metaKeys.serverInfo]
  const { instructions } = result
  const named = withSafeIcons(isRecord(info) ? info : {})
  return {
    ...named,
    name: typeof named.name === 'string' ? named.name : '',
    version: typeof named.version === 'string' ? named.version : '',
    capabilities: isRecord(result.capabilities) ? result.capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
    revision,
  }
}

/** Whether a stateless server rejected the revision of the request. */
function isUnsupportedVersion(error: unknown): boolean {
  return error instanceof RpcError && error.code === -32022
}

/** The revisions that an error response lists as supported; undefined for any other error. */
function supportedIn(error: unknown): readonly string[] | undefined {
  if (!(error instanceof RpcError) || !isRecord(error.data)) return undefined
  return stringsIn(error.data.supported)
}

/** Returns the newest revision of an era that is among the names and that this client supports. */
function common(
  names: readonly string[],
  { revisions }: Settings,
  era: Revision['era'],
): Revision | undefined {
  return newest(
    era,
    revisions.filter(revision => names.includes(revision.name)),
  )
}

function supportsStateless(error: unknown, { settings }: Opening): boolean {
  return common(supportedIn(error) ?? [], settings, 'stateless') !== undefined
}

function nothingInCommon(
  theirs: readonly string[],
  { revisions }: Settings,
  cause?: unknown,
): ChannelError {
  const ours = revisions.map(({ name }) => name).join(', ')
  const what = `opening: no protocol version in common: the server supports ${theirs.join(', ') || 'none'}; this client supports ${ours}`
  return new ChannelError('refused', what, { cause })
}

async function dialed({ dial, handlers, settings, signal }: Opening): Promise<Connection> {
  signal?.throwIfAborted()
  const dialing = dial()
  try {
    return new Connection(await abortable(dialing, signal), handlers, settings)
  } catch (error) {
    // An abort does not wait for the channel; if it opens all the same, it is closed.
    if (signal?.aborted) dialing.then(channel => channel.close()).then(undefined, () => {})
    throw error
  }
}

/** Runs a step of the negotiation; closes the connection if it fails, and prefixes errors with `opening:`. */
async function orClose<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await connection.close()
    if (connection.hasStreams && (isLost(error) || isUnsent(error))) {
      throw new ChannelError('refused', `opening: ${error.message}`, { cause: error.cause })
    }
    if (!isLost(error)) throw error
    // The negotiation executes nothing, so the outcome is not unknown: the connection is just closed.
    const { cause } = error
    const why = cause instanceof Error ? cause.message : 'the server closed the connection'
    throw new ChannelError('closed', `opening: ${why}`, { cause })
  }
}

/** Settles with the reply; closes the connection and rejects if the signal is aborted first. */
async function orAbort<T>(
  { signal }: Opening,
  connection: Connection,
  reply: Promise<T>,
): Promise<T> {
  if (signal === undefined) return reply
  const onAbort = () => void connection.close()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    if (signal.aborted) onAbort()
    return await reply
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
