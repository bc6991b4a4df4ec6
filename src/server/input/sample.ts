import type { Caller } from '../../mcp/caller.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { SampleParams, SampleResult, SamplingMessage } from '../../mcp/types/sampling.ts'
import { isRecord } from '../../util/record.ts'
import { badAnswer } from './bad-answer.ts'
import { requireSampling } from './require-capability.ts'

/**
 * What a model is asked, as the caller's revision says it. Throws where the client cannot be asked, and
 * a TypeError for a conversation that no client may take: messages of a kind the revision does not
 * know, uses of tools without results, results mixed with other content.
 */
export function sampleParams(caller: Caller, params: SampleParams): SampleParams {
  requireSampling(caller, params)
  const { samplingTools } = caller.revision.features
  checkBalance(params.messages)
  const messages = samplingTools ? params.messages : params.messages.map(single)
  // Clients that have not declared it need not understand it, and none of its values is ever needed.
  const { includeContext, ...rest } = { ...params, messages }
  const { sampling } = caller.capabilities
  const mayInclude = !samplingTools || (isRecord(sampling) && 'context' in sampling)
  return mayInclude && includeContext !== undefined ? { ...rest, includeContext } : rest
}

/** The answer of a model, checked as far as its shape goes. */
export function sampleAnswer(caller: Caller, answer: unknown, key?: string): SampleResult {
  const fault = sampleFault(answer)
  if (fault !== undefined) throw badAnswer(caller, 'sampling', fault, key)
  // The check: the members that a sample must have.
  return answer as SampleResult
}

/** What is wrong with the shape of a sample; undefined if nothing is. */
function sampleFault(answer: unknown): string | undefined {
  if (!isRecord(answer)) return 'it is no object'
  const { role, content, model } = answer
  if (role !== 'user' && role !== 'assistant') return 'it has no role'
  if (typeof model !== 'string') return 'it names no model'
  const blocks = Array.isArray(content) ? content : [content]
  return blocks.every(isBlock) ? undefined : 'it has no content'
}

function isBlock(value: unknown): value is Members {
  return isRecord(value) && typeof value.type === 'string'
}

/** A message of one block, which is all that revisions without tools in sampling have. */
function single(message: SamplingMessage): SamplingMessage {
  const { content } = message
  if (!Array.isArray(content)) return message
  if (content.length === 1) return { ...message, content: content[0] }
  throw new TypeError('this client takes messages of one block of content only')
}

/** Revision 2025-11-25, client/sampling: every use of a tool is followed by its result, alone. */
function checkBalance(messages: readonly SamplingMessage[]): void {
  let open = new Set<unknown>()
  for (const { role, content } of messages) {
    const blocks: readonly Members[] = (Array.isArray(content) ? content : [content]) as never
    const results = blocks.filter(block => block.type === 'tool_result')
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length)) {
      throw new TypeError('results of tools stand in messages of the user, and alone')
    }
    for (const { toolUseId } of results) {
      if (!open.delete(toolUseId)) throw new TypeError(`nothing asked for "${String(toolUseId)}"`)
    }
    if (open.size > 0) throw new TypeError(`the result of ${[...open].join(', ')} is missing`)
    open = new Set(blocks.filter(block => block.type === 'tool_use').map(block => block.id))
  }
  if (open.size > 0) throw new TypeError(`the result of ${[...open].join(', ')} is missing`)
}
