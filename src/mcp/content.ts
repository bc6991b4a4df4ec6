import { isRecord } from '../util/record.ts'
import type { Annotations } from './types/base.ts'
import type {
  AudioContent,
  BlobResourceContents,
  Content,
  EmbeddedResource,
  ImageContent,
  ResourceContents,
  ResourceLink,
  TextContent,
} from './types/content.ts'
import type { GetPromptResult, PromptMessage } from './types/prompts.ts'
import type { ReadResourceResult } from './types/resources.ts'
import type { CallToolResult } from './types/tools.ts'

/** Bytes, or a string that holds them as Base64 already. */
export type Binary = Uint8Array | string

/** What a resource holds, where the bytes need not be encoded yet. */
export type Contents =
  | ResourceContents
  | (Omit<BlobResourceContents, 'blob'> & { readonly blob: Binary })

/** A block of text. */
export function text(text: string, annotations?: Annotations): TextContent {
  return annotate({ type: 'text', text }, annotations)
}

/** A picture: `image(bytes, 'image/png')`. A string is taken for Base64 and not looked into. */
export function image(data: Binary, mimeType: string, annotations?: Annotations): ImageContent {
  return annotate({ type: 'image', data: base64(data), mimeType }, annotations)
}

/** Sound: `audio(bytes, 'audio/wav')`. A string is taken for Base64 and not looked into. */
export function audio(data: Binary, mimeType: string, annotations?: Annotations): AudioContent {
  return annotate({ type: 'audio', data: base64(data), mimeType }, annotations)
}

/** The address of a resource, for the client to read. It is called by its address unless named. */
export function link(
  uri: string,
  about: Partial<Omit<ResourceLink, 'type' | 'uri'>> = {},
): ResourceLink {
  return { type: 'resource_link', uri, ...about, name: about.name ?? uri }
}

/** A resource that travels along: its address with `text`, or with `blob` as bytes or Base64. */
export function embed(resource: Contents, annotations?: Annotations): EmbeddedResource {
  return annotate({ type: 'resource', resource: encoded(resource) }, annotations)
}

/** Whether a value is a block of content, by its type and the members that this type requires. */
export function isContent(value: unknown): value is Content {
  return isRecord(value) && (required.get(value.type)?.(value) ?? false)
}

/**
 * What a tool gave, as a result.
 *
 * Where the tool has an output schema, the value is its structured content, whatever its shape, and
 * its JSON is the text; only a result with `structuredContent` or `isError` is taken for a result.
 * Without one, a string, a number or a boolean is a text, a block or an array of blocks is the
 * content, an object with `content` or `structuredContent` is a result, and anything else is a text
 * of its JSON. `undefined` is no content at all, and so is `null` without an output schema.
 *
 * Throws a TypeError for what JSON cannot say, such as a circle.
 */
export function toolResult(
  value: unknown,
  { hasOutputSchema = false }: { readonly hasOutputSchema?: boolean } = {},
): CallToolResult {
  if (value === undefined) return { content: [] }
  if (isToolResult(value, hasOutputSchema)) {
    return { ...value, content: value.content ?? [text(json(value.structuredContent))] }
  }
  if (hasOutputSchema) return { content: [text(json(value))], structuredContent: value }
  if (value === null) return { content: [] }
  if (isContent(value)) return { content: [value] }
  if (areContent(value)) return { content: value }
  return { content: [text(isScalar(value) ? String(value) : json(value))] }
}

/**
 * What a tool threw, as a result that tells of it: the message of an error, or the thrown string.
 * Anything else is not shown, for nobody meant it to be read.
 */
export function errorResult(thrown: unknown): CallToolResult {
  return { content: [text(messageOf(thrown))], isError: true }
}

/** What a prompt may give: a text or a block is something the user says. */
export type PromptReply =
  | string
  | Content
  | PromptMessage
  | readonly (string | Content | PromptMessage)[]
  | GetPromptResult

/**
 * What a prompt gave, as a result: any PromptReply. A full result passes as it is. Throws a TypeError
 * for anything else.
 */
export function promptResult(value: unknown): GetPromptResult {
  if (isPromptResult(value)) return value
  return { messages: Array.isArray(value) ? value.map(message) : [message(value)] }
}

/**
 * What a resource holds, from what was read of it: a string is text, bytes are a blob, contents with
 * an address of their own pass, one or several, and anything else is a text of its JSON. Without a
 * media type, JSON says what it is. `null` and `undefined` give no contents: nothing was found.
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

/** The same as a result; a full result, with `contents`, passes as it is. */
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

/** Bytes as Base64, with padding. */
export function toBase64(bytes: Uint8Array): string {
  const over = bytes.length % 3
  const whole = bytes.length - over
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  // A table instead of btoa, which wants a string first and takes more than twice as long on Node 20.
  let at = 0
  for (let i = 0; i < whole; i += 3) at = write(out, at, bytes, i)
  if (over > 0) {
    // Nothing is read past the end in the loop: one such read makes all of it slower.
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

/** Three bytes as four digits; gives the place behind them. */
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

/** The members that a block of each type cannot do without. */
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

function isToolResult(value: unknown, hasOutputSchema: boolean): value is Partial<CallToolResult> {
  if (!isRecord(value)) return false
  const { content, structuredContent, isError } = value
  if (content !== undefined && !areContent(content)) return false
  if (structuredContent !== undefined) return true
  // An output may have a member `content` of its own, so that alone does not make it a result.
  return content !== undefined && (!hasOutputSchema || isError === true)
}

function isPromptResult(value: unknown): value is GetPromptResult {
  return isRecord(value) && Array.isArray(value.messages) && value.messages.every(isMessage)
}

function message(entry: unknown): PromptMessage {
  if (typeof entry === 'string') return { role: 'user', content: text(entry) }
  if (isContent(entry)) return { role: 'user', content: entry }
  if (isMessage(entry)) return entry
  throw new TypeError('A prompt gives a string, content, messages or a result')
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

function json(value: unknown): string {
  // What JSON leaves out, such as a function, is written as nothing by `stringify`.
  return JSON.stringify(value) ?? 'null'
}
