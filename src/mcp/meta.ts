import { isConstant } from '../util/frozen.ts'
import { isRecord } from '../util/record.ts'
import type { Features } from './revisions/revision.ts'
import type { ClientCapabilities, Implementation, LogLevel, ProgressToken } from './types/base.ts'
import { isLogLevel } from './types/logging.ts'

/** The keys of `_meta` that the protocol has given a meaning, in whichever revisions have them. */
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

/** Where a call belongs in somebody's trace: the texts of W3C Trace Context and W3C Baggage. */
export interface TraceContext {
  readonly traceparent?: string
  readonly tracestate?: string
  readonly baggage?: string
}

/** What a request of a stateless revision says about its sender. */
export interface MetaEnvelope {
  readonly ok: true
  /** The revision it is written in; nobody has checked yet that it is a known one. */
  readonly version: string
  readonly capabilities: ClientCapabilities
  /** What the client calls itself. Nothing may be decided by it. */
  readonly client?: Implementation
  /** Without it the request wants no log messages. */
  readonly logLevel?: LogLevel
  readonly progressToken?: ProgressToken
  readonly trace?: TraceContext
}

/** A stateless request that does not say what it must; answered with -32602. */
export interface MetaProblem {
  readonly ok: false
  /** The revision it claims, where that much can be read: a header is compared with it first. */
  readonly version?: string
  /** The required keys that are not there. */
  readonly missing: readonly string[]
  /** The keys whose values are not what they must be, and what that is. */
  readonly invalid: readonly { readonly key: string; readonly expected: string }[]
  /** All of it in one sentence, fit for the answer. */
  readonly message: string
}

/**
 * Reads what a stateless request says about its sender in `params._meta`.
 *
 * Gives undefined when the key of the protocol version is not there: then the request is one of a
 * session, whatever else its `_meta` may hold. Where something else, such as a header, has told that
 * it must be stateless, `required` makes the missing key a problem like any other.
 */
export function readEnvelope(
  params: unknown,
  options: { readonly required?: boolean } = {},
): MetaEnvelope | MetaProblem | undefined {
  const meta = metaOf(params)
  // What a client repeats in each of its requests has been read before.
  const known = meta === undefined ? undefined : envelopes.get(meta)
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
    const envelope: MetaEnvelope = {
      ok: true,
      version,
      capabilities,
      client,
      logLevel,
      progressToken,
      trace,
    }
    if (meta !== undefined && isConstant(meta)) envelopes.set(meta, Object.freeze(envelope))
    return envelope
  }
  return problemOf(meta ?? {})
}

/** Of every `_meta` that cannot change. */
const envelopes = new WeakMap<Members, MetaEnvelope>()

/** The token under which a request wants to be told of progress; undefined if it does not, or not well. */
export function readProgressToken(params: unknown): ProgressToken | undefined {
  const token = metaOf(params)?.[metaKeys.progressToken]
  return isProgressToken(token) ? token : undefined
}

/**
 * The trace that a message belongs to; undefined where it names none.
 *
 * The texts are fit to be passed on, also as headers. What is malformed is left out, and `tracestate`
 * with `traceparent`, as W3C Trace Context wants it: a broken trace must not fail a call.
 */
export function readTrace(params: unknown): TraceContext | undefined {
  return traceIn(metaOf(params))
}

/**
 * What is wrong with a key of `_meta`, in words; undefined for a good one.
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
 * Whether a key has a prefix that the protocol keeps to itself, so that nobody else may put anything
 * there. Revisions differ in which prefixes these are: those with `mcp` or `modelcontextprotocol` as
 * their second label, or, in the first revision with such a rule, as any label but the last.
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

/** The capabilities that a client can declare; each is an object, also where it has nothing to say. */
const capabilityNames = ['elicitation', 'sampling', 'roots', 'extensions', 'experimental'] as const

function metaOf(params: unknown): Members | undefined {
  if (!isRecord(params)) return undefined
  const { _meta } = params
  return isRecord(_meta) ? _meta : undefined
}

function traceIn(meta: Members | undefined): TraceContext | undefined {
  if (meta === undefined) return undefined
  const { traceparent, tracestate, baggage } = meta
  if (traceparent === undefined && baggage === undefined) return undefined
  const parent = isTraceparent(traceparent) ? traceparent : undefined
  const state = parent !== undefined && isHeaderText(tracestate) ? tracestate : undefined
  const luggage = isHeaderText(baggage) ? baggage : undefined
  if (parent === undefined && luggage === undefined) return undefined
  return { traceparent: parent, tracestate: state, baggage: luggage }
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
  // A loop, because every request of the stateless revisions comes through here.
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
  // Later versions may say more, behind a hyphen; the first one ends here.
  return end === '' || (end === '-' && !value.startsWith('00') && isHeaderText(value))
}

/** Bounded, and without line breaks: it may end up in a header of ours. */
function isHeaderText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 8192 && /^[\t\x20-\x7e]+$/.test(value)
}
