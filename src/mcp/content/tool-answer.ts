import { isRecord } from '../../util/objects.ts'
import type { Meta } from '../types/base.ts'
import type { Content } from '../types/content.ts'
import type { CallToolResult } from '../types/tools.ts'

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

/** Reads the result of a tool call. Returns what is wrong with it as a text, if anything. */
export function readToolAnswer(result: unknown): ToolAnswer | string {
  if (!isRecord(result)) return 'the result is not an object'
  // Some servers omit the content if there is structured content.
  const { content = [], structuredContent, isError, _meta } = result
  if (!Array.isArray(content)) return 'the content is not an array'
  return {
    text: joinedText(content),
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

/** Returns the text of the parts that are text, joined by newlines. */
export function joinedText(parts: readonly unknown[]): string {
  let all: string | undefined
  for (const part of parts) {
    if (!isRecord(part) || typeof part.text !== 'string') continue
    all = all === undefined ? part.text : `${all}\n${part.text}`
  }
  return all ?? ''
}
