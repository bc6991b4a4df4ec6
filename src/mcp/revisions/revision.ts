import type { Era } from '../errors/codes.ts'

/** What a revision can say, where revisions differ. */
export interface Features {
  /** Hints such as `readOnlyHint` on tools. */
  readonly toolAnnotations: boolean
  readonly audio: boolean
  readonly resourceLinks: boolean
  /** `title` beside `name`, and `_meta` on the types themselves. */
  readonly titles: boolean
  /** By which of their labels the prefixes of `_meta` keys are the protocol's own. */
  readonly reservedPrefixes: 'none' | 'any label' | 'second label'
  /** Icons, and `websiteUrl` and `description` of an implementation. */
  readonly icons: boolean
  /** What `structuredContent` and `outputSchema` may be. */
  readonly structured: 'none' | 'object' | 'any'
  /** Whether bad arguments of a tool are a result with `isError` or a protocol error. */
  readonly inputErrors: 'result' | 'error'
  readonly elicitation: 'none' | 'form' | 'form and url'
  /** Defaults on every primitive of a form, and choices with titles. */
  readonly richForms: boolean
  readonly samplingTools: boolean
  readonly completionContext: boolean
  /** Whether completion has a capability of its own. */
  readonly completionsCapability: boolean
  readonly progressMessages: boolean
  /** Whether the answer to what has no readable id goes without one; else it has null. */
  readonly namelessErrors: boolean
  readonly tasks: 'none' | 'core' | 'extension'
  /** Whether capabilities have a map of extensions. */
  readonly extensions: boolean
  /**
   * Whether event streams over HTTP begin with an empty event, so that each of them can be picked up
   * again, and may be closed by the server for the client to come back.
   */
  readonly polling: boolean
  /** Whether requests over HTTP name the revision in a header. */
  readonly versionHeader: boolean
}

/** One revision of the protocol, as data. */
export interface Revision {
  /** Its date, as it stands on the wire. */
  readonly name: string
  readonly era: Era
  readonly batches: boolean
  /** Every method, request or notification, that exists in it. */
  readonly methods: ReadonlySet<string>
  readonly features: Features
}
