import { methodRow } from '../mcp/methods.ts'
import type { Meta, Result } from '../mcp/types/base.ts'
import type { CompleteResult } from '../mcp/types/completion.ts'
import type { Content } from '../mcp/types/content.ts'
import type { DiscoverResult } from '../mcp/types/lifecycle.ts'
import type { GetPromptResult, ListPromptsResult } from '../mcp/types/prompts.ts'
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  ResourceContents,
} from '../mcp/types/resources.ts'
import type { GetSkillResult, ListSkillsResult, ReadDirectoryResult } from '../mcp/types/skills.ts'
import type { ListTasksResult } from '../mcp/types/tasks.ts'
import type { CallToolResult, ListToolsResult } from '../mcp/types/tools.ts'
import { isRecord } from '../util/objects.ts'
import { invalidResponse } from './errors.ts'

/** The result types of the methods that the client knows. */
export interface Results {
  readonly 'server/discover': DiscoverResult
  readonly 'tools/list': ListToolsResult
  readonly 'resources/list': ListResourcesResult
  readonly 'resources/templates/list': ListResourceTemplatesResult
  readonly 'resources/read': ReadResourceResult
  readonly 'prompts/list': ListPromptsResult
  readonly 'prompts/get': GetPromptResult
  readonly 'completion/complete': CompleteResult
  readonly 'tasks/list': ListTasksResult
  readonly 'skills/list': ListSkillsResult
  readonly 'skills/get': GetSkillResult
  readonly 'resources/directory/read': ReadDirectoryResult
  readonly ping: Result
  readonly 'logging/setLevel': Result
  readonly 'resources/subscribe': Result
  readonly 'resources/unsubscribe': Result
}

/** The result type of a method; `unknown` for methods that the client does not know. */
export type ResultOf<M extends string> = M extends keyof Results ? Results[M] : unknown

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

/** The result of a tool call. */
export interface ToolAnswer<Structured = unknown> {
  /** The text of all text blocks, joined by newlines. */
  readonly text: string
  /** The structured content; undefined if the tool returned none. */
  readonly structured: Structured
  /** The content blocks of the result: text, images, audio, links and resources. */
  readonly content: readonly Content[]
  /** Whether the tool failed; `content` says why. */
  readonly isError: boolean
  /** The `_meta` of the result; undefined if the server sent none. */
  readonly meta: Meta | undefined
  /** The result as the server sent it. */
  readonly raw: CallToolResult
}

/** Reads the result of `tools/call`. Throws a ChannelError `'framing'` for anything else. */
export function toolAnswer(result: unknown): ToolAnswer {
  if (!isRecord(result)) throw invalidResponse('tools/call', 'the result is not an object')
  // Some servers omit the content if there is structured content.
  const { content = [], structuredContent, isError, _meta } = result
  if (!Array.isArray(content)) throw invalidResponse('tools/call', 'the content is not an array')
  return {
    text: textOf(content),
    structured: structuredContent,
    content,
    isError: isError === true,
    meta: isRecord(_meta) ? _meta : undefined,
    // The check: content is an array, and everything else is optional.
    raw: (result.content === content
      ? result
      : { ...result, content }) as unknown as CallToolResult,
  }
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
  return { text: textOf(raw.contents), contents: raw.contents, meta: raw._meta, raw }
}

/** Returns the text of the parts that are text, joined by newlines. */
function textOf(parts: readonly unknown[]): string {
  let all: string | undefined
  for (const part of parts) {
    if (!isRecord(part) || typeof part.text !== 'string') continue
    all = all === undefined ? part.text : `${all}\n${part.text}`
  }
  return all ?? ''
}
