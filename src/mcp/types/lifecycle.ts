import type {
  CacheHints,
  ClientCapabilities,
  Implementation,
  RequestParams,
  Result,
  ServerCapabilities,
} from './base.ts'

/** The params of `initialize`, which opens a session. */
export interface InitializeParams extends RequestParams {
  /** The newest session revision that the client supports. */
  readonly protocolVersion: string
  readonly capabilities: ClientCapabilities
  readonly clientInfo: Implementation
}

/** The result of `initialize`. */
export interface InitializeResult extends Result {
  /** The revision of the session; not necessarily the requested one. */
  readonly protocolVersion: string
  readonly capabilities: ServerCapabilities
  readonly serverInfo: Implementation
  readonly instructions?: string
}

/** The result of `server/discover`, in stateless revisions. */
export interface DiscoverResult extends Result, CacheHints {
  readonly supportedVersions: readonly string[]
  readonly capabilities: ServerCapabilities
  readonly instructions?: string
}
