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
  /** The features of the client. */
  readonly capabilities: ClientCapabilities
  /** The name and version of the client. */
  readonly clientInfo: Implementation
}

/** The result of `initialize`. */
export interface InitializeResult extends Result {
  /** The revision of the session; not necessarily the requested one. */
  readonly protocolVersion: string
  /** The features of the server. */
  readonly capabilities: ServerCapabilities
  /** The name and version of the server. */
  readonly serverInfo: Implementation
  /** How to use the server, for the model. */
  readonly instructions?: string
}

/** The result of `server/discover`, in stateless revisions. */
export interface DiscoverResult extends Result, CacheHints {
  /** The stateless revisions that the server serves. */
  readonly supportedVersions: readonly string[]
  /** The features of the server. */
  readonly capabilities: ServerCapabilities
  /** How to use the server, for the model. */
  readonly instructions?: string
}
