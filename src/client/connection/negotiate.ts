import { type Channel, ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { newest, type Revision } from '../../mcp/revisions/revisions.ts'
import { implementationFor } from '../../mcp/revisions/shape.ts'
import type {
  ClientCapabilities,
  Implementation,
  ServerCapabilities,
} from '../../mcp/types/base.ts'
import { orAborted } from '../../util/abort.ts'
import { isRecord, stringsIn } from '../../util/record.ts'
import { isLost, isOutage, isUnsent } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { Link, type LinkHost } from './connection.ts'
import { withSafeIcons } from './icons.ts'
import { senderMeta, withMeta } from './request-meta.ts'
import { forget, recall, remember } from './version-cache.ts'

/** Opens a channel to the server: called for the first connection and for each one after it. */
export type Dial = () => Promise<Channel>

/** What a server says of itself. Nothing may be decided by its name. */
export interface ServerDescription extends Implementation {
  readonly capabilities: ServerCapabilities
  readonly instructions?: string
  /** What is spoken with it. */
  readonly revision: Revision
}

/** A connection on which both sides know what to speak. */
export interface Opened {
  readonly link: Link
  readonly server: ServerDescription
}

/** What opening needs to know. */
export interface Opening {
  readonly dial: Dial
  readonly host: LinkHost
  readonly settings: Settings
  readonly capabilitiesOf: (revision: Revision) => ClientCapabilities
  /** Gives up; whatever was opened so far is closed. */
  readonly signal?: AbortSignal
}

/**
 * Connects, finds out what the server speaks and settles on a revision.
 *
 * A server is asked with `server/discover`. Whoever answers as stateless servers do is one; any
 * other answer, silence, or a server that does not survive the question means a session, which
 * begins with `initialize`, on a new connection if need be. Where each request has a stream of its
 * own, silence and failures of the way say nothing about the server, and opening fails with them. A
 * verdict that was remembered saves the question, and a wrong one is found out. Rejects with a
 * ChannelError `'refused'` when there is nothing both sides speak.
 */
export async function open(opening: Opening): Promise<Opened> {
  const { settings } = opening
  const asked = newest('stateless', settings.revisions)
  const isEither = asked !== undefined && newest('session', settings.revisions) !== undefined
  if (asked === undefined) return openSession(opening, await dialled(opening))
  if (!isEither) return openStateless(opening, await dialled(opening), asked)
  const verdict = recall(settings)?.era
  if (verdict === 'session') {
    const opened = await openRemembered(opening)
    if (opened !== undefined) return opened
  }
  // A server that has answered before is slow rather than of another kind.
  const waitMs = verdict === 'stateless' ? settings.timeoutMs : settings.probeMs
  const opened = await openEither(opening, asked, waitMs)
  remember(settings, opened.server.revision.era)
  return opened
}

async function openEither(opening: Opening, asked: Revision, waitMs: number): Promise<Opened> {
  const link = await dialled(opening)
  const found = await closing(link, () => discover(opening, link, asked, waitMs))
  if (found.type === 'stateless') return { link, server: found.server }
  try {
    return await openSession(opening, link.isOpen ? link : await dialled(opening))
  } catch (error) {
    // Silence may have meant no more than a slow start: such a server names what it speaks here.
    if (!speaksStateless(error, opening)) throw error
    return openStateless(opening, await dialled(opening), asked)
  }
}

/** Undefined when the server turns out to be another than the one remembered. */
async function openRemembered(opening: Opening): Promise<Opened | undefined> {
  try {
    return await openSession(opening, await dialled(opening))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    forget(opening.settings)
    return undefined
  }
}

async function openStateless(opening: Opening, link: Link, asked: Revision): Promise<Opened> {
  return closing(link, async () => {
    const { timeoutMs } = opening.settings
    const found = await discover(opening, link, asked, timeoutMs)
    if (found.type === 'stateless') return { link, server: found.server }
    const why = 'the server does not answer server/discover as stateless servers do'
    const { cause } = found
    const words = cause instanceof Error ? `${why}: ${cause.message}` : why
    throw new ChannelError('refused', `opening: ${words}`, { cause })
  })
}

type Finding =
  | { readonly type: 'stateless'; readonly server: ServerDescription }
  | { readonly type: 'session'; readonly cause?: unknown }

async function discover(
  opening: Opening,
  link: Link,
  asked: Revision,
  timeoutMs: number,
): Promise<Finding> {
  const { settings } = opening
  const waitMs = link.hasStreams ? settings.timeoutMs : timeoutMs
  // A server that refuses what it then offers is given a second chance, and no third.
  let revision = asked
  for (let attempt = 1; ; attempt++) {
    try {
      const found = judge(
        await ask(opening, link, revision, { attempt, timeoutMs: waitMs }),
        settings,
      )
      if (found.type === 'stateless') link.revision = found.server.revision
      return found
    } catch (error) {
      opening.signal?.throwIfAborted()
      if (link.hasStreams && isOutage(error)) throw error
      const supported = isUnsupportedVersion(error) ? offered(error) : undefined
      if (supported === undefined) return { type: 'session', cause: error }
      const next = common(supported, settings, 'stateless')
      if (next === undefined || attempt === 2) {
        if (common(supported, settings, 'session') !== undefined)
          return { type: 'session', cause: error }
        throw nothingInCommon(supported, settings, error)
      }
      revision = next
    }
  }
}

function ask(
  opening: Opening,
  link: Link,
  revision: Revision,
  { attempt, timeoutMs }: { readonly attempt: number; readonly timeoutMs: number },
): Promise<unknown> {
  const { info } = opening.settings
  const capabilities = opening.capabilitiesOf(revision)
  const params = withMeta(undefined, { sender: senderMeta({ revision, capabilities, info }) })
  // Silent when it is given up, because a server with sessions would hear of it before initialize.
  const options = { id: `discover-${attempt}`, timeoutMs, silent: true }
  return within(opening, link, link.call('server/discover', params, options))
}

function judge(result: unknown, settings: Settings): Finding {
  const supported = isRecord(result) ? stringsIn(result.supportedVersions) : undefined
  if (!isRecord(result) || supported === undefined || !isRecord(result.capabilities)) {
    return {
      type: 'session',
      cause: new ChannelError('framing', 'the answer is no DiscoverResult'),
    }
  }
  const revision = common(supported, settings, 'stateless')
  if (revision !== undefined) return { type: 'stateless', server: described(result, revision) }
  return { type: 'session', cause: nothingInCommon(supported, settings) }
}

async function openSession(opening: Opening, link: Link): Promise<Opened> {
  return closing(link, async () => {
    let wanted = newest('session', opening.settings.revisions)
    for (let attempt = 1; ; attempt++) {
      // The check: called only where there is a revision with sessions.
      const revision = wanted as Revision
      try {
        return { link, server: await initialize(opening, link, revision) }
      } catch (error) {
        wanted = common(offered(error) ?? [], opening.settings, 'session')
        if (wanted === undefined || wanted === revision || attempt === 2) throw error
      }
    }
  })
}

async function initialize(
  opening: Opening,
  link: Link,
  wanted: Revision,
): Promise<ServerDescription> {
  const { settings } = opening
  const introduction = {
    protocolVersion: wanted.name,
    capabilities: opening.capabilitiesOf(wanted),
    clientInfo: implementationFor(wanted, settings.info),
  }
  const params = withMeta(introduction, {})
  const result = await within(opening, link, link.call('initialize', params, { silent: true }))
  if (!isRecord(result) || typeof result.protocolVersion !== 'string') {
    throw new ChannelError('framing', 'opening: the answer to initialize is no InitializeResult')
  }
  const revision = common([result.protocolVersion], settings, 'session')
  if (revision === undefined) throw nothingInCommon([result.protocolVersion], settings)
  link.revision = revision
  link.notify('notifications/initialized')
  return described(result, revision)
}

function described(
  result: Readonly<Record<string, unknown>>,
  revision: Revision,
): ServerDescription {
  const meta = isRecord(result._meta) ? result._meta : {}
  // At the top in sessions; in stateless revisions in `_meta`, though drafts had it at the top too.
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

/** Whether a stateless server refuses the revision it was spoken to in. */
function isUnsupportedVersion(error: unknown): boolean {
  return error instanceof RpcError && error.code === -32022
}

/** The revisions that a refusal offers instead; undefined for any other failure. */
function offered(error: unknown): readonly string[] | undefined {
  if (!(error instanceof RpcError) || !isRecord(error.data)) return undefined
  return stringsIn(error.data.supported)
}

/** The newest revision of an era that is among the names and that this client speaks. */
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

function speaksStateless(error: unknown, { settings }: Opening): boolean {
  return common(offered(error) ?? [], settings, 'stateless') !== undefined
}

function nothingInCommon(
  theirs: readonly string[],
  { revisions }: Settings,
  cause?: unknown,
): ChannelError {
  const ours = revisions.map(({ name }) => name).join(', ')
  const what = `opening: the server speaks ${theirs.join(', ') || 'nothing'}; this client speaks ${ours}`
  return new ChannelError('refused', what, { cause })
}

async function dialled({ dial, host, settings, signal }: Opening): Promise<Link> {
  signal?.throwIfAborted()
  const dialling = dial()
  try {
    return new Link(await orAborted(dialling, signal), host, settings)
  } catch (error) {
    // Whoever gives up does not wait for a connection; should it come all the same, it is closed.
    if (signal?.aborted) dialling.then(channel => channel.close()).then(undefined, () => {})
    throw error
  }
}

/** Closes the link if what is done with it fails, and says what was being done where nobody else does. */
async function closing<T>(link: Link, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await link.close()
    if (link.hasStreams && (isLost(error) || isUnsent(error))) {
      throw new ChannelError('refused', `opening: ${error.message}`, { cause: error.cause })
    }
    if (!isLost(error)) throw error
    // Nothing has been asked of the server yet, so that nothing can have been carried out.
    const why = error.cause instanceof Error ? `: ${error.cause.message}` : ''
    throw new ChannelError('closed', `opening: the server ended the connection${why}`, {
      cause: error.cause,
    })
  }
}

/** A reply that is awaited only as long as anybody wants the connection. */
async function within<T>({ signal }: Opening, link: Link, reply: Promise<T>): Promise<T> {
  if (signal === undefined) return reply
  const onAbort = () => void link.close()
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
