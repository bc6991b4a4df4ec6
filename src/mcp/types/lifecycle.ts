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
  /** The newest revision that the client can speak in a session. */
  readonly protocolVersion: string
  readonly capabilities: ClientCapabilities
  readonly clientInfo: Implementation
}

/** The answer to `initialize`. */
export interface InitializeResult extends Result {
  /** The revision of the session; not necessarily the one that was asked for. */
  readonly protocolVersion: string
  readonly capabilities: ServerCapabilities
  readonly serverInfo: Implementation
  readonly instructions?: string
}

/** The answer to `server/discover`, in stateless revisions. */
export interface DiscoverResult extends Result, CacheHints {
  readonly supportedVersions: readonly string[]
  readonly capabilities: ServerCapabilities
  readonly instructions?: string
}
