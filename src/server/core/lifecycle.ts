import { invalidParams, RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { Profile } from '../../mcp/profile.ts'
import { negotiate, type Revision } from '../../mcp/revisions/revisions.ts'
import { implementationFor } from '../../mcp/revisions/shape.ts'
import type { Implementation, ServerCapabilities } from '../../mcp/types/base.ts'
import { isRecord } from '../../util/record.ts'
import { objectParam, type Params, stringParam } from '../request.ts'
import type { Session } from './session.ts'

/** What a server says of itself, whoever asks. */
export interface Self {
  readonly info: Implementation
  readonly instructions: string | undefined
  /** The revisions it serves, oldest first. */
  readonly revisions: readonly Revision[]
  readonly profile: Profile
  capabilities(revision: Revision): ServerCapabilities
}

/** Answers `initialize`: settles the revision and remembers who the client is. */
export function initialize(self: Self, session: Session, params: Params): Params {
  if (session.caller !== undefined) {
    throw errors.notInitialized(undefined, { message: 'Already initialized' })
  }
  const requested = stringParam(params, 'protocolVersion')
  const revision = negotiate(requested, self.revisions)
  if (revision === undefined) throw noSessions(self, requested)
  if (self.profile.versionMismatch === 'error' && revision.name !== requested) {
    throw errors.protocolVersionMismatch({
      clientVersion: requested,
      serverVersion: revision.name,
      supported: names(self.revisions, 'session'),
      requested,
    })
  }
  session.caller = {
    revision,
    capabilities: objectParam(params, 'capabilities'),
    client: clientInfo(params.clientInfo),
    principal: session.envelope.principal,
  }
  return {
    protocolVersion: revision.name,
    capabilities: self.capabilities(revision),
    serverInfo: implementationFor(revision, self.info),
    instructions: self.instructions,
  }
}

/** Answers `server/discover`. */
export function discover(self: Self, caller: Caller): Params {
  return {
    supportedVersions: names(self.revisions, 'stateless'),
    capabilities: self.capabilities(caller.revision),
    instructions: self.instructions,
  }
}

/** The refusal of a revision that is not served, for a request that speaks for itself. */
export function unsupportedVersion(self: Self, requested: string): RpcError {
  // By its number: which revision's numbers hold is just what could not be settled.
  return new RpcError(-32022, 'Unsupported protocol version', {
    data: {
      supported: names(self.revisions, 'stateless'),
      requested,
      kind: 'unsupported_protocol_version',
    },
  })
}

function noSessions(self: Self, requested: string): RpcError {
  const supported = names(self.revisions, 'stateless')
  return errors.unsupportedProtocolVersion(
    { version: requested, supported, requested },
    { message: `Unsupported protocol version; this server speaks ${supported.join(', ')}` },
  )
}

function names(revisions: readonly Revision[], era: Revision['era']): string[] {
  return revisions.filter(revision => revision.era === era).map(revision => revision.name)
}

function clientInfo(value: unknown): Implementation | undefined {
  if (value === undefined) return undefined
  if (!isRecord(value) || typeof value.name !== 'string') {
    throw invalidParams('clientInfo must be an object with a name')
  }
  // The check: a name is what matters; everything else is shown, never trusted.
  return value as unknown as Implementation
}
