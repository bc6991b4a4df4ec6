import type { Members } from '../mcp/types/base.ts'
import type { PromptMessage } from '../mcp/types/prompts.ts'
import { unavailableKey } from '../router/forward/results.ts'
import { isRecord } from '../util/objects.ts'
import { printable } from '../util/text/printable.ts'
import { typesOf } from './input/tool-arguments.ts'
import { formatBytes, oneLine, type Terminal } from './terminal.ts'

/** Formats the arguments of a tool: `city: string, days?: integer`. */
export function argumentText(inputSchema: unknown): string {
  const schema = isRecord(inputSchema) ? inputSchema : {}
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(properties)
    .map(
      ([name, property]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(property)}`,
    )
    .join(', ')
}

/** Formats the type of a schema. */
export function typeText(schema: unknown): string {
  if (!isRecord(schema)) return 'any'
  if (Array.isArray(schema.enum))
    return oneLine(schema.enum.map(one => JSON.stringify(one)).join('|'), 60)
  if ('const' in schema) return oneLine(JSON.stringify(schema.const) ?? 'any', 60)
  const types = typesOf(schema)
  if (types.length === 0) return 'any'
  return types.map(type => (type === 'array' ? `${typeText(schema.items)}[]` : type)).join('|')
}

/** Formats a content block: text as it is, anything else as a short description. */
export function contentText(block: unknown, isTerminal: boolean): string {
  if (!isRecord(block)) return '[invalid content]'
  const clean = (text: unknown): string => (isTerminal ? printable(String(text)) : String(text))
  switch (block.type) {
    case 'text':
      return clean(block.text)
    case 'image':
    case 'audio':
      return `[${block.type} ${oneLine(String(block.mimeType), 80)}, ${base64Size(block.data)}]`
    case 'resource_link':
      return `[link ${oneLine(String(block.uri), 300)}${nameSuffix(block.name)}]`
    case 'resource':
      return resourceText(block.resource, isTerminal)
    default:
      return `[content of type ${oneLine(JSON.stringify(block.type) ?? '', 40)}]`
  }
}

/** Formats the content of a resource: text as it is, binary data as a short description. */
export function resourceText(resource: unknown, isTerminal: boolean): string {
  if (!isRecord(resource)) return '[invalid resource]'
  if (typeof resource.text === 'string')
    return isTerminal ? printable(resource.text) : resource.text
  const type = typeof resource.mimeType === 'string' ? ` ${oneLine(resource.mimeType, 80)}` : ''
  return `[binary data of ${oneLine(String(resource.uri), 300)},${type} ${base64Size(resource.blob)}]`
}

/** Formats a message of a prompt. */
export function messageText({ role, content }: PromptMessage, terminal: Terminal): string {
  // Some servers send an array of blocks, as in sampling.
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content]
  const text = blocks.map(block => contentText(block, terminal.isInteractive)).join('\n')
  return `${terminal.style(`${oneLine(role, 40)}:`, 'bold')} ${text}`
}

/** Adds the unavailable servers that a router reports in `_meta` of a list, with the reasons, to `unavailable`. */
export function collectUnavailable(meta: Members, unavailable: Map<string, string>): void {
  const reported = meta[unavailableKey]
  if (!isRecord(reported)) return
  for (const [server, reason] of Object.entries(reported)) {
    if (typeof reason === 'string') unavailable.set(server, reason)
  }
}

function base64Size(data: unknown): string {
  return typeof data === 'string' ? formatBytes(Buffer.byteLength(data, 'base64')) : 'no data'
}

function nameSuffix(name: unknown): string {
  return typeof name === 'string' && name !== '' ? `: ${oneLine(name, 100)}` : ''
}
