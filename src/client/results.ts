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
import type { ListTasksResult } from '../mcp/types/tasks.ts'
import type { CallToolResult, ListToolsResult } from '../mcp/types/tools.ts'
import { isRecord } from '../util/record.ts'
import { unreadable } from './errors.ts'

/** What the methods with a result of their own answer with. */
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
  readonly ping: Result
  readonly 'logging/setLevel': Result
  readonly 'resources/subscribe': Result
  readonly 'resources/unsubscribe': Result
}

/** The result of a method, where it is known which. */
export type ResultOf<M extends string> = M extends keyof Results ? Results[M] : unknown

/** The member without which a result is not the one it should be. */
const lists: ReadonlyMap<string, string> = new Map([
  ['server/discover', 'supportedVersions'],
  ['tools/list', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
  ['resources/read', 'contents'],
  ['prompts/list', 'prompts'],
  ['prompts/get', 'messages'],
  ['tasks/list', 'tasks'],
])

/** A result as its type says it is. Throws a ChannelError `'framing'` for one that is something else. */
export function checkResult<M extends string>(method: M, result: unknown): ResultOf<M> {
  const member = lists.get(method)
  if (member !== undefined && !(isRecord(result) && Array.isArray(result[member]))) {
    throw unreadable(method, `the result has no list of ${member}`)
  }
  if (method === 'completion/complete' && !hasValues(result)) {
    throw unreadable(method, 'the result has no values')
  }
  // The check: what makes a result the one it should be is there; the rest is the server's word.
  return result as ResultOf<M>
}

function hasValues(result: unknown): boolean {
  return isRecord(result) && isRecord(result.completion) && Array.isArray(result.completion.values)
}

/** What a tool gave. */
export interface ToolAnswer<Structured = unknown> {
  /** All text of it, one block below the other. */
  readonly text: string
  /** The part for programs, where there is one. */
  readonly structured: Structured
  readonly content: readonly Content[]
  /** Whether the tool itself failed; the content says why. */
  readonly isError: boolean
  readonly meta: Meta | undefined
  /** The result as it came. */
  readonly raw: CallToolResult
}

/** Reads the result of a call. Throws a ChannelError `'framing'` for what is none. */
export function toolAnswer(result: unknown): ToolAnswer {
  if (!isRecord(result)) throw unreadable('tools/call', 'the result is no object')
  // Some servers leave out the content where there is a structured part.
  const { content = [], structuredContent, isError, _meta } = result
  if (!Array.isArray(content)) throw unreadable('tools/call', 'the content is no list')
  return {
    text: textOf(content),
    structured: structuredContent,
    content,
    isError: isError === true,
    meta: isRecord(_meta) ? _meta : undefined,
    // The check: content is a list, and everything else is optional.
    raw: (result.content === content
      ? result
      : { ...result, content }) as unknown as CallToolResult,
  }
}

/** What a resource holds. */
export interface ResourceAnswer {
  /** All text of it, one part below the other. */
  readonly text: string
  readonly contents: readonly ResourceContents[]
  readonly meta: Meta | undefined
  /** The result as it came. */
  readonly raw: ReadResourceResult
}

/** What was read, with its text at hand. */
export function resourceAnswer(raw: ReadResourceResult): ResourceAnswer {
  return { text: textOf(raw.contents), contents: raw.contents, meta: raw._meta, raw }
}

/** The text of those parts that are text, one below the other. */
function textOf(parts: readonly unknown[]): string {
  let all: string | undefined
  for (const part of parts) {
    if (!isRecord(part) || typeof part.text !== 'string') continue
    all = all === undefined ? part.text : `${all}\n${part.text}`
  }
  return all ?? ''
}
