import { isDeepFrozen, isRecord, ownMember } from '../util/objects.ts'
import type { Features } from './revisions/revision.ts'
import type { ClientCapabilities, Implementation, LogLevel, ProgressToken } from './types/base.ts'
import { isLogLevel } from './types/logging.ts'

/** The keys of `_meta` that the protocol defines, in any revision. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  relatedTask: 'io.modelcontextprotocol/related-task',
  modelImmediateResponse: 'io.modelcontextprotocol/model-immediate-response',
  progressToken: 'progressToken',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  baggage: 'baggage',
} as const

/** The member of `_meta` in which a router names the server that a request or a log message comes from. */
export const serverKey = 'trunkline/server'

/** Returns the name of the server that params come from, as a router says; undefined without a router. */
export function readServerName(params: unknown): string | undefined {
  const name = ownMember(ownMember(params, '_meta'), serverKey)
  return typeof name === 'string' ? name : undefined
}

/** The position of a call in a distributed trace, as the strings of W3C Trace Context and W3C Baggage. */
export interface TraceContext {
  /** The ids of the trace and of the parent span, and the trace flags. */
  readonly traceparent?: string
  /** Data of tracing systems, as a list of keys and values. */
  readonly tracestate?: string
  /** Values that the application passes along the trace. */
  readonly baggage?: string
}

/** The request metadata in `_meta` of a stateless request: its client and its options. */
export interface StatelessMeta {
  readonly ok: true
  /** The protocol version of the request, not yet checked against the known revisions. */
  readonly version: string
  readonly capabilities: ClientCapabilities
  /** The name and version that the client claims. Nothing may depend on it. */
  readonly client?: Implementation
  /** The minimum level of log messages for this request; without it, none are sent. */
  readonly logLevel?: LogLevel
  readonly progressToken?: ProgressToken
  readonly trace?: TraceContext
}

/** Why the request metadata of a stateless request is invalid; the response is an error -32602. */
export interface MetaProblem {
  readonly ok: false
  /** The protocol version, if it is a string: HTTP compares it with a header first. */
  readonly version?: string
  /** The required keys that are missing. */
  readonly missing: readonly string[]
  /** The keys with invalid values, and the expected value of each. */
  readonly invalid: readonly { readonly key: string; readonly expected: string }[]
  /** All problems in one sentence, for the error message. */
  readonly message: string
}

/**
 * Reads the request metadata of a stateless request from `params._meta`.
 *
 * Returns undefined if the key of the protocol version is missing: then the request belongs to a
 * session, even if its `_meta` has other keys. With `required`, for requests that are known to be
 * stateless from a header, the missing key is a problem like any other.
 */
export function readRequestMeta(
  params: unknown,
  options: { readonly required?: boolean } = {},
): StatelessMeta | MetaProblem | undefined {
  const meta = metaOf(params)
  // Clients repeat the same `_meta` in each request, so it has usually been read before.
  const known = meta === undefined ? undefined : knownMeta.get(meta)
  if (known !== undefined) return known
  const version = meta?.[metaKeys.protocolVersion]
  if (version === undefined && options.required !== true) return undefined
  const capabilities = meta?.[metaKeys.clientCapabilities]
  const client = meta?.[metaKeys.clientInfo]
  const logLevel = meta?.[metaKeys.logLevel]
  const progressToken = meta?.[metaKeys.progressToken]
  if (
    typeof version === 'string' &&
    isCapabilities(capabilities) &&
    (client === undefined || isImplementation(client)) &&
    (logLevel === undefined || isLogLevel(logLevel)) &&
    (progressToken === undefined || isProgressToken(progressToken))
  ) {
    const trace = traceIn(meta)
    const stateless: StatelessMeta = {
      ok: true,
      version,
      capabilities,
      client,
      logLevel,
      progressToken,
      trace,
    }
    if (meta !== undefined && isDeepFrozen(meta)) knownMeta.set(meta, Object.freeze(stateless))
    return stateless
  }
  return problemOf(meta ?? {})
}

/** The metadata read from each immutable `_meta`. */
const knownMeta = new WeakMap<Members, StatelessMeta>()

/** Returns the progress token of a request; undefined if it has none, or an invalid one. */
export function readProgressToken(params: unknown): ProgressToken | undefined {
  const token = metaOf(params)?.[metaKeys.progressToken]
  return isProgressToken(token) ? token : undefined
}

/**
 * Returns the trace that a message belongs to; undefined if it names none.
 *
 * The strings are safe to forward, also as headers. Malformed ones are omitted, and `tracestate` with a
 * malformed `traceparent`, as W3C Trace Context requires: a broken trace must not fail a call.
 */
export function readTrace(params: unknown): TraceContext | undefined {
  return traceIn(metaOf(params))
}

/**
 * Returns what is wrong with a key of `_meta`, as a sentence; undefined for a valid key.
 *
 * A key is a name, or labels joined by dots, a slash and a name: `com.example/trace`.
 */
export function metaKeyProblem(key: string): string | undefined {
  const slash = key.indexOf('/')
  const labels = slash === -1 ? [] : key.slice(0, slash).split('.')
  if (!labels.every(text => label.test(text))) {
    return 'its prefix is not made of labels: a letter first, a letter or digit last, hyphens between'
  }
  // An empty name is allowed, and so is an empty key.
  const name = key.slice(slash + 1)
  if (name !== '' && !metaName.test(name)) {
    return 'its name is not made of letters, digits, "-", "_" and ".", with a letter or digit at both ends'
  }
  return undefined
}

/**
 * Whether the prefix of a key is reserved by the protocol. The rule depends on the revision: reserved
 * are prefixes with `mcp` or `modelcontextprotocol` as their second label, or, in the first revision
 * with such a rule, as any label but the last.
 */
export function hasReservedPrefix(key: string, rule: Features['reservedPrefixes']): boolean {
  const slash = key.indexOf('/')
  if (slash === -1 || rule === 'none') return false
  const labels = key.slice(0, slash).toLowerCase().split('.')
  const candidates = rule === 'second label' ? labels.slice(1, 2) : labels.slice(0, -1)
  return candidates.some(text => text === 'mcp' || text === 'modelcontextprotocol')
}

type Members = Readonly<Record<string, unknown>>

const label = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/i
const metaName = /^[a-z0-9](?:[\w.-]*[a-z0-9])?$/i

/** The capabilities that a client can declare. Each is an object, even if it has no members. */
const capabilityNames = ['elicitation', 'sampling', 'roots', 'extensions', 'experimental'] as const

function metaOf(params: unknown): Members | undefined {
  const _meta = ownMember(params, '_meta')
  return isRecord(_meta) ? _meta : undefined
}

function traceIn(meta: Members | undefined): TraceContext | undefined {
  if (meta === undefined) return undefined
  const { traceparent, tracestate, baggage } = meta
  if (traceparent === undefined && baggage === undefined) return undefined
  const parent = isTraceparent(traceparent) ? traceparent : undefined
  const state = parent !== undefined && isHeaderText(tracestate) ? tracestate : undefined
  const baggageText = isHeaderText(baggage) ? baggage : undefined
  if (parent === undefined && baggageText === undefined) return undefined
  return { traceparent: parent, tracestate: state, baggage: baggageText }
}

function problemOf(meta: Members): MetaProblem {
  const version = meta[metaKeys.protocolVersion]
  const required = [metaKeys.protocolVersion, metaKeys.clientCapabilities]
  const missing = required.filter(key => meta[key] === undefined)
  const invalid = expectations(meta)
    .filter(([key, isGood]) => meta[key] !== undefined && !isGood)
    .map(([key, , expected]) => ({ key, expected }))
  const parts = [
    ...missing.map(key => `${key} is missing`),
    ...invalid.map(({ key, expected }) => `${key} must be ${expected}`),
  ]
  return {
    ok: false,
    version: typeof version === 'string' ? version : undefined,
    missing,
    invalid,
    message: `_meta: ${parts.join(', ')}`,
  }
}

function expectations(
  meta: Members,
): readonly (readonly [key: string, isGood: boolean, expected: string])[] {
  const { protocolVersion, clientCapabilities, clientInfo, logLevel, progressToken } = metaKeys
  const capabilities = meta[clientCapabilities]
  return [
    [protocolVersion, typeof meta[protocolVersion] === 'string', 'a string'],
    [clientCapabilities, isCapabilities(capabilities), capabilitiesExpected(capabilities)],
    [clientInfo, isImplementation(meta[clientInfo]), 'an object with a name and a version'],
    [logLevel, isLogLevel(meta[logLevel]), 'a log level'],
    [progressToken, isProgressToken(meta[progressToken]), 'a string or an integer'],
  ]
}

function capabilitiesExpected(value: unknown): string {
  if (!isRecord(value)) return 'an object'
  const wrong = capabilityNames.filter(name => !isCapability(value[name]))
  return `an object whose ${wrong.join(' and ')} ${wrong.length > 1 ? 'are objects' : 'is one too'}`
}

function isCapabilities(value: unknown): value is ClientCapabilities {
  if (!isRecord(value)) return false
  // A loop, because this runs for every stateless request.
  for (const name of capabilityNames) if (!isCapability(value[name])) return false
  return true
}

function isCapability(value: unknown): boolean {
  return value === undefined || isRecord(value)
}

function isImplementation(value: unknown): value is Implementation {
  return isRecord(value) && typeof value.name === 'string' && typeof value.version === 'string'
}

function isProgressToken(value: unknown): value is ProgressToken {
  return typeof value === 'string' || Number.isInteger(value)
}

function isTraceparent(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const pattern = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-|$)/
  const end = pattern.exec(value)?.[1]
  // Later versions may append fields after a hyphen; version 00 ends here.
  return end === '' || (end === '-' && !value.startsWith('00') && isHeaderText(value))
}

/** Whether a string is bounded and has no line breaks, because it may be sent in a header. */
function isHeaderText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 8192 && /^[\t\x20-\x7e]+$/.test(value)
}
