import type { Era } from '../errors/codes.ts'

/** The name of a protocol revision: its date, as sent on the wire. */
export type RevisionName = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28'

/**
 * What a revision defines, wherever revisions differ. Code tests for a feature, never for the name of a
 * revision.
 */
export interface Features {
  /**
   * Where a server learns the protocol version, the capabilities and the name of a client: from
   * `initialize`, for the whole session, or from `_meta` of every request.
   */
  readonly identity: 'session' | 'request'
  /**
   * Whether the requests on a connection share a session: state that lasts from one request to the next
   * and ends with the connection, such as the meaning of a cursor and the owner of a task.
   */
  readonly sessions: boolean
  /**
   * How a server gets input from its client: it sends a request of its own and awaits the response, or
   * it returns `input_required` and the client retries the call with the responses.
   */
  readonly serverRequests: 'call' | 'retry'
  /** What receives change notifications: the session, or every stream opened by `subscriptions/listen`. */
  readonly subscriptions: 'session' | 'stream'
  /** Where a client sets its log level: by `logging/setLevel`, or in `_meta` of every request. */
  readonly logLevel: 'session' | 'request'
  /** The cheapest request that shows whether a server responds. */
  readonly liveness: 'ping' | 'server/discover'
  /**
   * How a client cancels a request that has a response stream of its own: by
   * `notifications/cancelled`, or by closing that stream.
   */
  readonly cancellation: 'notification' | 'stream'
  /** Whether results say what they are (`resultType`): complete, input required, or a task. */
  readonly resultTypes: boolean
  /** Whether results say how long they may be cached. */
  readonly cacheHints: boolean
  /** Whether an empty string is the cursor of a further page; otherwise it ends the list. */
  readonly emptyCursors: boolean
  /** Whether a request that needs an undeclared client capability has an error of its own (-32021). */
  readonly capabilityErrors: boolean
  /** Whether tools have annotations such as `readOnlyHint`. */
  readonly toolAnnotations: boolean
  /** Whether there are audio blocks. */
  readonly audio: boolean
  /** Whether there are links to resources. */
  readonly resourceLinks: boolean
  /** Whether definitions have a `title` beside their `name`, and `_meta`. */
  readonly titles: boolean
  /** Which label of a prefix marks a `_meta` key as reserved by the protocol. */
  readonly reservedPrefixes: 'none' | 'any label' | 'second label'
  /** Whether definitions have icons, and implementations `websiteUrl` and `description`. */
  readonly icons: boolean
  /** Which values `structuredContent` and `outputSchema` allow. */
  readonly structured: 'none' | 'object' | 'any'
  /** Whether invalid tool arguments give a result with `isError` or a protocol error. */
  readonly inputErrors: 'result' | 'error'
  /** Which kinds of elicitation there are. */
  readonly elicitation: 'none' | 'form' | 'form and url'
  /**
   * Whether a URL elicitation has an id, under which the server reports that the user has completed it,
   * and by which the error `url_elicitation_required` lists the pages to visit.
   */
  readonly elicitationIds: boolean
  /** Whether forms have defaults on every primitive and choices with titles. */
  readonly richForms: boolean
  /** Whether a sampling request may define tools. */
  readonly samplingTools: boolean
  /** Whether completion requests have the arguments that are known already. */
  readonly completionContext: boolean
  /** Whether servers declare a `completions` capability. */
  readonly completionsCapability: boolean
  /** Whether progress has a message. */
  readonly progressMessages: boolean
  /** Whether an error response to a message without a readable id omits `id`; otherwise `id` is null. */
  readonly namelessErrors: boolean
  /** Whether there are tasks: in the protocol, as an extension, or not at all. */
  readonly tasks: 'none' | 'core' | 'extension'
  /** Whether capabilities include a map of extensions. */
  readonly extensions: boolean
  /**
   * Whether every event stream over HTTP starts with an empty event, so that a client can resume it,
   * and whether the server may close a stream and have the client poll for the rest.
   */
  readonly polling: boolean
  /** Whether requests over HTTP carry the protocol version in a header. */
  readonly versionHeader: boolean
  /** Whether requests over HTTP repeat their method, their name and marked arguments in headers. */
  readonly paramHeaders: boolean
}

/** One revision of the protocol, as data. */
export interface Revision {
  /** Its date, as sent on the wire. */
  readonly name: string
  /** Whether it has sessions or is stateless. */
  readonly era: Era
  /** Whether it has batches. */
  readonly batches: boolean
  /** All methods of this revision, requests and notifications. */
  readonly methods: ReadonlySet<string>
  /** What it defines, wherever revisions differ. */
  readonly features: Features
}
