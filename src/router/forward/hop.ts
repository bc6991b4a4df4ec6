import { senderMeta } from '../../client/connection/request-meta.ts'
import { type Kept, type KeptCalls, kept, Written } from '../../jsonrpc/codec/raw-json.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { missingCapability, tasksExtension } from '../../mcp/extension.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { callResultFor, contentFor, readResultFor } from '../../mcp/revisions/shape.ts'
import { withinTrace } from '../../mcp/trace-context.ts'
import type { ClientCapabilities, Implementation, Members } from '../../mcp/types/base.ts'
import type { Content } from '../../mcp/types/content.ts'
import type { LogLevel } from '../../mcp/types/logging.ts'
import type { ReadResourceResult } from '../../mcp/types/resources.ts'
import type { CallToolResult } from '../../mcp/types/tools.ts'
import type { ServerRequest } from '../../server/request.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import { capabilitiesFor } from '../connection/capabilities.ts'

/** Where a caller may say how long it is willing to wait. */
const timeoutKey = 'trunkline/timeoutMs'

/** Members of `_meta` that belong to one hop: whoever passes a message on says them anew. */
const ofOneHop: ReadonlySet<string> = new Set([
  metaKeys.protocolVersion,
  metaKeys.clientCapabilities,
  metaKeys.clientInfo,
  metaKeys.serverInfo,
  metaKeys.logLevel,
  metaKeys.subscriptionId,
  metaKeys.relatedTask,
  metaKeys.progressToken,
  timeoutKey,
])

/** `_meta` without what belongs to the hop it came by; undefined where nothing is left. */
function passedMeta(meta: unknown): Members | undefined {
  if (!isRecord(meta)) return undefined
  let passed: Record<string, unknown> | undefined
  for (const key in meta) {
    if (ofOneHop.has(key)) continue
    passed ??= {}
    passed[key] = meta[key]
  }
  return passed
}

/** The params of a call as the next hop gets them: without what was said to the router alone. */
export function passedParams(
  params: Members,
  own: Members,
  retry?: Members,
  asTask = false,
): Members {
  const passed = params.arguments instanceof Written ? ofWritten(params) : lasting(params)
  for (const key in own) passed[key] = own[key]
  if (retry !== undefined) Object.assign(passed, retry)
  if (asTask) passed.task = {}
  // The trace that the caller named goes on as a child of the router's own, where there is one.
  const meta = withinTrace(passedMeta(params._meta))
  if (meta !== undefined) passed._meta = meta
  return passed
}

/** Params of which some were left as text have no other members but `_meta`: see `writtenCalls`. */
function ofWritten({ name, arguments: given }: Members): Record<string, unknown> {
  return { name, arguments: given }
}

/** By hand: leaving members out of a spread costs as much as the rest of a hop. */
function lasting(params: Members): Record<string, unknown> {
  const passed: Record<string, unknown> = {}
  for (const key in params) if (!ofThisCall.has(key)) passed[key] = params[key]
  return passed
}

/** Members of params that are said to the router alone. */
const ofThisCall: ReadonlySet<string> = new Set(['requestState', 'inputResponses', 'task', '_meta'])

/** How long the caller still waits, by what it says; no longer than so many milliseconds. */
export function timeoutFor({ params }: ServerRequest, mostMs: number): number {
  const wished = isRecord(params._meta) ? params._meta[timeoutKey] : undefined
  if (typeof wished !== 'number' || !(wished > 0)) return mostMs
  return mostMs > 0 ? Math.min(mostMs, wished) : wished
}

/** The params of a call as a server gets them whose caller still waits for so long, and says so. */
export function withTimeLeft(params: object, leftMs: number): object {
  const { _meta } = params as Members
  const told = { [timeoutKey]: Math.ceil(leftMs) }
  return { ...params, _meta: isRecord(_meta) ? { ..._meta, ...told } : told }
}

/**
 * What a stateless server is told of whoever calls, and whether it may make a task of the call. Made
 * once for callers that declare the same, of which there are few kinds: saying it anew costs more than
 * the rest of a call.
 */
export class Senders {
  readonly #info: Implementation
  readonly #made = new Map<string, object>()
  /** What it was for a caller last: whoever calls is likely to call again. */
  readonly #latest = new WeakMap<Caller, Made>()

  /** What the router calls itself when it calls others. */
  constructor(info: Implementation) {
    this.#info = info
  }

  for({ caller, session }: ServerRequest, revision: Revision, takesTask: boolean): object {
    const isSession = caller.revision.era === 'session'
    const logLevel = isSession ? session?.logLevel : caller.logLevel
    const latest = this.#latest.get(caller)
    const isLatest =
      latest?.revision === revision &&
      latest.logLevel === logLevel &&
      latest.takesTask === takesTask
    if (isLatest) return latest.sender
    const sender = this.#find(caller, revision, logLevel, takesTask)
    this.#latest.set(caller, { revision, logLevel, takesTask, sender })
    return sender
  }

  #find(
    caller: Caller,
    revision: Revision,
    logLevel: LogLevel | undefined,
    takesTask: boolean,
  ): object {
    const key = `${revision.name} ${logLevel} ${takesTask} ${textOf(caller.capabilities)}`
    let sender = this.#made.get(key)
    if (sender === undefined) {
      const declared = capabilitiesFor(caller, revision)
      const capabilities = takesTask ? withTasks(declared) : declared
      sender = senderMeta({ revision, capabilities, info: this.#info, logLevel })
      // Of more kinds than that somebody is making them up.
      if (this.#made.size >= limits.senderKinds.default) this.#made.clear()
      this.#made.set(key, sender)
    }
    return sender
  }
}

interface Made {
  readonly revision: Revision
  readonly logLevel: LogLevel | undefined
  readonly takesTask: boolean
  readonly sender: object
}

const texts = new WeakMap<ClientCapabilities, string>()

/** What a caller declares, as text; written once for an object that comes again. */
function textOf(capabilities: ClientCapabilities): string {
  let text = texts.get(capabilities)
  if (text === undefined) {
    text = JSON.stringify(capabilities)
    texts.set(capabilities, text)
  }
  return text
}

function withTasks(declared: ClientCapabilities): ClientCapabilities {
  return { ...declared, extensions: { ...declared.extensions, [tasksExtension]: {} } }
}

/** The members of results that are passed on as the text they came as, wherever nobody looks at them. */
export const writtenResults: Kept = kept({
  resultType: 'scalar',
  content: 'array',
  structuredContent: 'object',
  isError: 'scalar',
  _meta: 'read',
})

/** The same of requests. What says or asks for more than these is read. */
export const writtenCalls: KeptCalls = new Map([
  ['tools/call', kept({ name: 'scalar', arguments: 'object', _meta: 'read' })],
])

/** Whether whoever made a request gets such a result as it is, in the words of its revision. */
export function mayStayWritten({ method, caller, takesWritten }: ServerRequest): boolean {
  if (takesWritten !== true || method !== 'tools/call') return false
  const { structured, audio, resourceLinks } = caller.revision.features
  return audio && resourceLinks && structured !== 'none'
}

/** A result as the caller gets it: without what the server said to the router alone, in the caller's words. */
export function passedResult(method: string, result: Members, revision: Revision): Members {
  const meta = passedMeta(result._meta)
  if (result.content instanceof Written && meta === undefined) {
    // It has no other members, and nobody who gets it as text needs any of them in other words.
    const { content, structuredContent, isError } = result
    return { content, structuredContent, isError }
  }
  const passed: Record<string, unknown> = {}
  for (const key in result) {
    if (key !== 'resultType' && key !== '_meta') passed[key] = result[key]
  }
  if (meta !== undefined) passed._meta = meta
  switch (method) {
    case 'tools/call':
      // The check: whoever reads it looks at each member; only kinds of content are looked at here.
      return Array.isArray(passed.content)
        ? (callResultFor(revision, passed as unknown as CallToolResult) as unknown as Members)
        : passed
    case 'resources/read':
      return { ...readResultFor(revision, passed as unknown as ReadResourceResult) }
    case 'prompts/get':
      return Array.isArray(passed.messages) ? promptFor(passed, revision) : passed
    default:
      return passed
  }
}

/**
 * A failure as the caller is told of it. That it cannot be asked something a stateless caller is told in
 * another way than a session, which is how its server may have said it.
 */
export function refusalFor({ caller }: ServerRequest, error: unknown): unknown {
  if (!(error instanceof RpcError) || error.kind !== 'capability_not_supported') return error
  if (caller.revision.era === 'session' || !isRecord(error.data)) return error
  const capability = String(error.data.capability)
  const required = askable.get(capability)
  const [kind = ''] = capability.split('.')
  // What the caller has declared it is not missing.
  if (required === undefined || (capability === kind && kind in caller.capabilities)) return error
  return missingCapability(required)
}

const askable: ReadonlyMap<string, ClientCapabilities> = new Map<string, ClientCapabilities>([
  ['elicitation', { elicitation: { form: {} } }],
  ['elicitation.url', { elicitation: { url: {} } }],
  ['sampling', { sampling: {} }],
  ['sampling.tools', { sampling: { tools: {} } }],
  ['roots', { roots: {} }],
])

function promptFor(result: Members, revision: Revision): Members {
  if (revision.features.audio && revision.features.resourceLinks) return result
  const messages = (result.messages as readonly unknown[]).map(message =>
    isRecord(message) && isRecord(message.content)
      ? { ...message, content: contentFor(revision, message.content as unknown as Content) }
      : message,
  )
  return { ...result, messages }
}
