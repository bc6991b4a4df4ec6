import { isRecord } from '../../util/objects.ts'
import type { Annotations } from '../types/base.ts'
import type {
  AudioContent,
  BlobResourceContents,
  Content,
  EmbeddedResource,
  ImageContent,
  ResourceContents,
  ResourceLink,
  TextContent,
} from '../types/content.ts'
import type { GetPromptResult, PromptMessage } from '../types/prompts.ts'
import type { ReadResourceResult } from '../types/resources.ts'
import type { CallToolResult } from '../types/tools.ts'
import { blocksFault } from './content-check.ts'
import { jsonFault } from './json-fault.ts'

/** Bytes, or a string with their Base64 encoding. */
export type Binary = Uint8Array | string

/** The contents of a resource, with binary contents as bytes or as Base64. */
export type Contents =
  | ResourceContents
  | (Omit<BlobResourceContents, 'blob'> & {
      /** The bytes, or their Base64. */
      readonly blob: Binary
    })

/** Creates a text block. */
export function text(text: string, annotations?: Annotations): TextContent {
  return annotate({ type: 'text', text }, annotations)
}

/** Creates an image block: `image(bytes, 'image/png')`. A string must be Base64, which is checked when it is sent. */
export function image(data: Binary, mimeType: string, annotations?: Annotations): ImageContent {
  return annotate({ type: 'image', data: base64(data), mimeType }, annotations)
}

/** Creates an audio block: `audio(bytes, 'audio/wav')`. A string must be Base64, which is checked when it is sent. */
export function audio(data: Binary, mimeType: string, annotations?: Annotations): AudioContent {
  return annotate({ type: 'audio', data: base64(data), mimeType }, annotations)
}

/** Creates a link to a resource that the client can read. Its name is the URI unless `about` has one. */
export function link(
  uri: string,
  about: Partial<Omit<ResourceLink, 'type' | 'uri'>> = {},
): ResourceLink {
  return { type: 'resource_link', uri, ...about, name: about.name ?? uri }
}

/** Creates a block with an embedded resource: its URI with `text`, or with `blob` as bytes or Base64. */
export function embed(resource: Contents, annotations?: Annotations): EmbeddedResource {
  return annotate({ type: 'resource', resource: encoded(resource) }, annotations)
}

/** Whether a value is a content block: a known type with the members that this type requires. */
export function isContent(value: unknown): value is Content {
  return isRecord(value) && (required.get(value.type)?.(value) ?? false)
}

/**
 * Converts the return value of a tool without an output schema into a result.
 *
 * A string, a number or a boolean becomes a text; a block, or an array of blocks and strings with at least
 * one block, is the content; an object with `content` or `structuredContent` is a result; anything else
 * becomes a text with its JSON. `undefined` and `null` give no content.
 *
 * Throws a TypeError for a value that JSON cannot represent, such as a cyclic one or a `Map`, and for a
 * result or an array with blocks that are incomplete or of an unknown type.
 */
export function toolResult(value: unknown): CallToolResult {
  if (value === undefined || value === null) return { content: [] }
  if (isScalar(value)) return { content: [text(String(value))] }
  if (isToolResult(value, false)) return completeResult(value)
  if (isContent(value)) return { content: [value] }
  if (isMixedContent(value)) return { content: value.map(block) }
  const fault = faultOfBlocks(value)
  if (fault !== undefined) throw new TypeError(fault)
  return { content: [text(plainJson(value))] }
}

/** The return value of a tool with an output schema. */
export interface ToolOutput {
  /** The structured content, which the schema has not checked yet. */
  readonly structured: unknown
  /** The result that the handler made itself; undefined where it returned only the structured content. */
  readonly result: Partial<CallToolResult> | undefined
}

/**
 * Reads the return value of a tool with an output schema. Only an object with `structuredContent` or
 * `isError` counts as a result, because an output may have a member named `content`.
 */
export function toolOutput(value: unknown): ToolOutput {
  return isToolResult(value, true)
    ? { structured: value.structuredContent, result: value }
    : { structured: value, result: undefined }
}

/**
 * Creates the result of a tool with an output schema. `structured` is what the schema returned. Its JSON is
 * the text, unless the handler or `textOf` made the content. Throws a TypeError for a value that JSON cannot
 * represent.
 */
export function structuredResult(
  { result }: ToolOutput,
  structured: unknown,
  textOf?: (structured: unknown) => unknown,
): CallToolResult {
  if (result?.content !== undefined) {
    checkPlain(structured)
    return { ...result, content: result.content, structuredContent: structured }
  }
  const content =
    textOf === undefined ? [text(plainJson(structured))] : toolResult(textOf(structured)).content
  if (textOf !== undefined) checkPlain(structured)
  return { ...result, content, structuredContent: structured }
}

/**
 * Converts an exception of a tool into a result with `isError`: the message of an error, or the thrown
 * string. Any other value is not shown, because it was not written to be read.
 */
export function errorResult(thrown: unknown): CallToolResult {
  return { content: [text(messageOf(thrown))], isError: true }
}

/** What the handler of a prompt may return. A string or a content block becomes a message of the user. */
export type PromptReply =
  | string
  | Content
  | PromptMessage
  | readonly (string | Content | PromptMessage)[]
  | GetPromptResult

/**
 * Converts the return value of a prompt, any PromptReply, into a result. A complete result is returned
 * unchanged. Throws a TypeError for any other value.
 */
export function promptResult(value: unknown): GetPromptResult {
  if (isPromptResult(value)) return value
  return { messages: Array.isArray(value) ? value.map(message) : [message(value)] }
}

/**
 * Converts the return value of a resource handler into contents: a string is text, bytes are a blob,
 * one or several contents with a `uri` are kept, and anything else becomes a text with its JSON.
 * Without a media type, such JSON gets `application/json`. `null` and `undefined` give no contents: the
 * resource was not found.
 */
export function resourceContents(
  uri: string,
  mimeType: string | undefined,
  value: unknown,
): readonly ResourceContents[] {
  if (value === undefined || value === null) return []
  const about = mimeType === undefined ? { uri } : { uri, mimeType }
  if (value instanceof Uint8Array) return [{ ...about, blob: toBase64(value) }]
  if (typeof value === 'string') return [{ ...about, text: value }]
  if (isResource(value)) return [encoded(value)]
  if (Array.isArray(value) && value.length > 0 && value.every(isResource)) return value.map(encoded)
  return [{ uri, mimeType: mimeType ?? 'application/json', text: json(value) }]
}

/**
 * Converts the return value of a resource handler into a result. A complete result, with `contents`,
 * keeps its other members.
 */
export function resourceResult(
  uri: string,
  mimeType: string | undefined,
  value: unknown,
): ReadResourceResult {
  if (isRecord(value) && Array.isArray(value.contents) && value.contents.every(isResource)) {
    return { ...value, contents: value.contents.map(encoded) }
  }
  return { contents: resourceContents(uri, mimeType, value) }
}

/** Encodes bytes as Base64, with padding. */
export function toBase64(bytes: Uint8Array): string {
  const over = bytes.length % 3
  const whole = bytes.length - over
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  // A lookup table instead of btoa, which needs a string first and takes more than twice as long on
  // Node 20.
  let at = 0
  for (let i = 0; i < whole; i += 3) at = write(out, at, bytes, i)
  if (over > 0) {
    // The loop never reads past the end, because a single such read makes all of it slower.
    const last = new Uint8Array(3)
    last.set(bytes.subarray(whole))
    at = write(out, at, last, 0)
    out.fill(PADDING, at - (3 - over))
  }
  return ascii.decode(out)
}

const digits = new TextEncoder().encode(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
)
const PADDING = 0x3d
const ascii = new TextDecoder()

/** Writes three bytes as four digits; returns the index after them. */
function write(out: Uint8Array, at: number, bytes: Uint8Array, i: number): number {
  const three = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
  out[at] = digits[three >> 18] ?? 0
  out[at + 1] = digits[(three >> 12) & 63] ?? 0
  out[at + 2] = digits[(three >> 6) & 63] ?? 0
  out[at + 3] = digits[three & 63] ?? 0
  return at + 4
}

function base64(data: Binary): string {
  return typeof data === 'string' ? data : toBase64(data)
}

function encoded(resource: Contents): ResourceContents {
  return isEncoded(resource) ? resource : { ...resource, blob: base64(resource.blob) }
}

function annotate<C extends Content>(content: C, annotations: Annotations | undefined): C {
  return annotations === undefined ? content : { ...content, annotations }
}

/** The members that a block of each type requires. */
const required = new Map<unknown, (block: Record<string, unknown>) => boolean>([
  ['text', block => typeof block.text === 'string'],
  ['image', isMedia],
  ['audio', isMedia],
  ['resource_link', block => typeof block.uri === 'string' && typeof block.name === 'string'],
  ['resource', block => isEncoded(block.resource)],
])

function isMedia(block: Record<string, unknown>): boolean {
  return typeof block.data === 'string' && typeof block.mimeType === 'string'
}

function isEncoded(value: unknown): value is ResourceContents {
  if (!isRecord(value) || typeof value.uri !== 'string') return false
  return typeof value.text === 'string' || typeof value.blob === 'string'
}

function isResource(value: unknown): value is Contents {
  if (!isRecord(value) || typeof value.uri !== 'string') return false
  return value.blob instanceof Uint8Array || isEncoded(value)
}

function areContent(value: unknown): value is readonly Content[] {
  return Array.isArray(value) && value.every(isContent)
}

/** Whether an array holds blocks, or blocks and strings. An array of strings alone is data. */
function isMixedContent(value: unknown): value is readonly (string | Content)[] {
  if (!Array.isArray(value)) return false
  if (value.length === 0) return true
  return value.some(isContent) && value.every(item => typeof item === 'string' || isContent(item))
}

function block(item: string | Content): Content {
  return typeof item === 'string' ? text(item) : item
}

function completeResult(result: Partial<CallToolResult>): CallToolResult {
  const { structuredContent } = result
  if (structuredContent !== undefined) checkPlain(structuredContent)
  return { ...result, content: result.content ?? [text(json(structuredContent))] }
}

function isToolResult(value: unknown, hasOutputSchema: boolean): value is Partial<CallToolResult> {
  if (!isRecord(value)) return false
  const { content, structuredContent, isError } = value
  if (content !== undefined && !areContent(content)) return false
  if (structuredContent !== undefined) return true
  // An output may have a member named `content`, so that member alone does not make it a result.
  return content !== undefined && (!hasOutputSchema || isError === true)
}

const resultMembers = new Set(['content', 'structuredContent', 'isError', '_meta', 'resultType'])

/** Returns what is wrong with the blocks of a value that was meant as a result or as content. */
function faultOfBlocks(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.some(isContent) ? blocksFault(value, isContent) : undefined
  if (!isRecord(value) || !Array.isArray(value.content)) return undefined
  // An object with other members is data that happens to have a member of this name.
  const isResult = Object.keys(value).every(key => resultMembers.has(key))
  return isResult ? blocksFault(value.content, isContent) : undefined
}

function isPromptResult(value: unknown): value is GetPromptResult {
  return isRecord(value) && Array.isArray(value.messages) && value.messages.every(isMessage)
}

function message(entry: unknown): PromptMessage {
  if (typeof entry === 'string') return { role: 'user', content: text(entry) }
  if (isContent(entry)) return { role: 'user', content: entry }
  if (isMessage(entry)) return entry
  throw new TypeError('a prompt must return a string, content, messages or a result')
}

function isMessage(value: unknown): value is PromptMessage {
  if (!isRecord(value) || !isContent(value.content)) return false
  return value.role === 'user' || value.role === 'assistant'
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message === '' ? thrown.name : thrown.message
  return typeof thrown === 'string' ? thrown : 'The tool failed'
}

function isScalar(value: unknown): value is string | number | bigint | boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
}

/** Writes plain data as JSON. Throws a TypeError for anything that JSON would drop or cannot represent. */
function plainJson(value: unknown): string {
  const written = json(value)
  checkPlain(value)
  return written
}

function checkPlain(value: unknown): void {
  const fault = jsonFault(value)
  if (fault !== undefined) throw new TypeError(fault)
}

function json(value: unknown): string {
  // `stringify` returns undefined for values that JSON omits, such as functions.
  return JSON.stringify(value) ?? 'null'
}
