import type { Caller } from '../../mcp/caller.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { SampleParams, SampleResult, SamplingMessage } from '../../mcp/types/sampling.ts'
import { isRecord } from '../../util/objects.ts'
import { invalidInputResponse } from './input-responses.ts'
import { requireSampling } from './require-capability.ts'

/**
 * Encodes the params of a sampling request for the caller's revision. Throws an RpcError where the
 * client does not support sampling, and a TypeError for an invalid conversation: messages of a kind that
 * the revision does not have, tool uses without results, results mixed with other content.
 */
export function sampleParams(caller: Caller, params: SampleParams): SampleParams {
  requireSampling(caller, params)
  const { samplingTools, serverRequests } = caller.revision.features
  checkBalance(params.messages)
  const messages = samplingTools ? params.messages : params.messages.map(single)
  // Clients that have not declared it need not understand it, and no request depends on it.
  const { includeContext, _meta, ...others } = { ...params, messages }
  // An input request has none.
  const rest = _meta === undefined || serverRequests === 'retry' ? others : { ...others, _meta }
  const { sampling } = caller.capabilities
  const mayInclude = !samplingTools || (isRecord(sampling) && 'context' in sampling)
  return mayInclude && includeContext !== undefined ? { ...rest, includeContext } : rest
}

/** Returns the sample in a client's response. Throws an RpcError for a response of another shape. */
export function sampleResponse(caller: Caller, response: unknown, key?: string): SampleResult {
  const problem = sampleProblem(response)
  if (problem !== undefined) throw invalidInputResponse(caller, 'sampling', problem, key)
  // The check: the members that a sample must have.
  return response as SampleResult
}

/** Says what is wrong with the shape of a sample; undefined if nothing is. */
function sampleProblem(response: unknown): string | undefined {
  if (!isRecord(response)) return 'it is not an object'
  const { role, content, model } = response
  if (role !== 'user' && role !== 'assistant') return 'it has no role'
  if (typeof model !== 'string') return 'it names no model'
  const blocks = Array.isArray(content) ? content : [content]
  return blocks.every(isBlock) ? undefined : 'it has no content'
}

function isBlock(value: unknown): value is Members {
  return isRecord(value) && typeof value.type === 'string'
}

/** A message of one content block: revisions without tools in sampling have no others. */
function single(message: SamplingMessage): SamplingMessage {
  const { content } = message
  if (!Array.isArray(content)) return message
  if (content.length === 1) return { ...message, content: content[0] }
  throw new TypeError('this client supports messages with one content block only')
}

/** Revision 2025-11-25, client/sampling: each tool use is followed by its result, in a message of its own. */
function checkBalance(messages: readonly SamplingMessage[]): void {
  let open = new Set<unknown>()
  for (const { role, content } of messages) {
    const blocks: readonly Members[] = (Array.isArray(content) ? content : [content]) as never
    const results = blocks.filter(block => block.type === 'tool_result')
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length)) {
      throw new TypeError('tool results must be in user messages without other content')
    }
    for (const { toolUseId } of results) {
      if (!open.delete(toolUseId))
        throw new TypeError(`tool result without a tool use: "${String(toolUseId)}"`)
    }
    if (open.size > 0) throw new TypeError(`missing tool result: ${[...open].join(', ')}`)
    open = new Set(blocks.filter(block => block.type === 'tool_use').map(block => block.id))
  }
  if (open.size > 0) throw new TypeError(`missing tool result: ${[...open].join(', ')}`)
}
