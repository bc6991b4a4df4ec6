import type { Principal } from '../../jsonrpc/channel.ts'
import { invalidParams, RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import type { SessionState } from '../../mcp/endpoint.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { Profile } from '../../mcp/profile.ts'
import { negotiate, type Revision, revisionOf, revisionsOf } from '../../mcp/revisions/revisions.ts'
import { implementationFor } from '../../mcp/revisions/shape.ts'
import type { Implementation, ServerCapabilities } from '../../mcp/types/base.ts'
import { jsonMemory } from '../../util/json-memory.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { type NamedParams, objectParam, stringParam } from '../request.ts'
import type { ServerSession } from './session.ts'

/** The identity of a server, as `initialize` and `server/discover` return it. */
export interface ServerIdentity {
  readonly info: Implementation
  readonly instructions: string | undefined
  /** The revisions that it serves, oldest first. */
  readonly revisions: readonly Revision[]
  readonly profile: Profile
  capabilities(revision: Revision): ServerCapabilities
}

/**
 * Answers `initialize`: negotiates the revision and sets the caller of the session, as the principal of this request.
 * A connection that is authenticated by its first message has none when it begins.
 */
export function initialize(
  server: ServerIdentity,
  session: ServerSession,
  params: NamedParams,
  principal: Principal | undefined,
): NamedParams {
  if (session.caller !== undefined) {
    throw errors.notInitialized(undefined, { message: 'Already initialized' })
  }
  const requested = stringParam(params, 'protocolVersion')
  const revision = negotiate(requested, server.revisions)
  if (revision === undefined) throw noSessions(server, requested)
  if (server.profile.versionMismatch === 'error' && revision.name !== requested) {
    throw errors.protocolVersionMismatch({
      clientVersion: requested,
      serverVersion: revision.name,
      supported: names(server.revisions, 'session'),
      requested,
    })
  }
  const capabilities = objectParam(params, 'capabilities')
  const client = boundedInfo(clientInfo(params.clientInfo), capabilities)
  session.caller = {
    revision,
    capabilities,
    client,
    principal: principal ?? session.envelope.principal,
  }
  return {
    protocolVersion: revision.name,
    capabilities: server.capabilities(revision),
    serverInfo: implementationFor(revision, server.info),
    instructions: server.instructions,
  }
}

/**
 * Returns the caller of a session that another process had. Throws an RpcError for a revision that is not served
 * here.
 */
export function restoredCaller(
  { revision: name, capabilities, client }: SessionState,
  principal: Principal | undefined,
  served: readonly Revision[],
): Caller {
  const revision = revisionOf('session', name, served)
  if (revision === undefined) {
    const supported = names(served, 'session')
    throw errors.unsupportedProtocolVersion({ version: name, supported, requested: name })
  }
  return { revision, capabilities, client, principal }
}

/** Answers `server/discover`. */
export function discover(server: ServerIdentity, caller: Caller): NamedParams {
  return {
    supportedVersions: names(server.revisions, 'stateless'),
    capabilities: server.capabilities(caller.revision),
    instructions: server.instructions,
  }
}

/** The error for a stateless request in a revision that is not served. */
export function unsupportedVersion(server: ServerIdentity, requested: string): RpcError {
  // By its code, not its kind: which revision's codes apply is just what is unknown.
  return new RpcError(-32022, 'Unsupported protocol version', {
    data: {
      supported: names(server.revisions, 'stateless'),
      requested,
      kind: 'unsupported_protocol_version',
    },
  })
}

function noSessions(server: ServerIdentity, requested: string): RpcError {
  const supported = names(server.revisions, 'stateless')
  return errors.unsupportedProtocolVersion(
    { version: requested, supported, requested },
    { message: `Unsupported protocol version; this server speaks ${supported.join(', ')}` },
  )
}

function names(revisions: readonly Revision[], era: Revision['era']): string[] {
  return revisionsOf(era, revisions).map(revision => revision.name)
}

/**
 * Returns the client info of a session, which a server keeps as long as the session lasts: without icons
 * if it is too large with them. Throws an RpcError (-32602) if it is still too large.
 */
function boundedInfo(
  info: Implementation | undefined,
  capabilities: NamedParams,
): Implementation | undefined {
  const { default: max } = limits.callerBytes
  const size = jsonMemory(capabilities)
  if (size + jsonMemory(info) <= max) return info
  const { icons: _, ...rest } = info ?? { name: '', version: '' }
  if (info !== undefined && size + jsonMemory(rest) <= max) return rest
  const details = `clientInfo and capabilities take more than ${max} bytes`
  throw invalidParams(details, { data: { details } })
}

function clientInfo(value: unknown): Implementation | undefined {
  if (value === undefined) return undefined
  if (!isRecord(value) || typeof value.name !== 'string') {
    throw invalidParams('clientInfo must be an object with a name')
  }
  // The check: only the name is required; everything else is shown, never trusted.
  return value as unknown as Implementation
}
