import { joinedText, readToolAnswer, type ToolAnswer } from '../mcp/content/tool-answer.ts'
import { methodRow } from '../mcp/methods.ts'
import type { Meta } from '../mcp/types/base.ts'
import type { ClientMethod, ClientRequests } from '../mcp/types/requests.ts'
import type { ReadResourceResult, ResourceContents } from '../mcp/types/resources.ts'
import { isRecord } from '../util/objects.ts'
import { invalidResponse } from './errors.ts'

/** The result type of a method; `unknown` for methods that the client does not know. */
export type ResultOf<M extends string> = M extends ClientMethod
  ? ClientRequests[M]['result']
  : unknown

/** Returns the result as its type. Throws a ChannelError `'framing'` if a required member is missing. */
export function checkResult<M extends string>(method: M, result: unknown): ResultOf<M> {
  const member = methodRow(method)?.items
  if (member !== undefined && !(isRecord(result) && Array.isArray(result[member]))) {
    throw invalidResponse(method, `the result has no array "${member}"`)
  }
  if (method === 'completion/complete' && !hasValues(result)) {
    throw invalidResponse(method, 'the result has no values')
  }
  // The check: the required member is there; the rest is not validated.
  return result as ResultOf<M>
}

function hasValues(result: unknown): boolean {
  return isRecord(result) && isRecord(result.completion) && Array.isArray(result.completion.values)
}

/** Reads the result of `tools/call`. Throws a ChannelError `'framing'` for anything else. */
export function toolAnswer(result: unknown): ToolAnswer {
  const answer = readToolAnswer(result)
  if (typeof answer === 'string') throw invalidResponse('tools/call', answer)
  return answer
}

/** The contents of a resource. */
export interface ResourceAnswer {
  /** The text of all text parts, joined by newlines. */
  readonly text: string
  /** The parts of the resource, as text or as Base64. */
  readonly contents: readonly ResourceContents[]
  /** The `_meta` of the result; undefined if the server sent none. */
  readonly meta: Meta | undefined
  /** The result as the server sent it. */
  readonly raw: ReadResourceResult
}

/** Adds the joined text to the result of `resources/read`. */
export function resourceAnswer(raw: ReadResourceResult): ResourceAnswer {
  return { text: joinedText(raw.contents), contents: raw.contents, meta: raw._meta, raw }
}
