import type { PromptMessage } from '../mcp/types/prompts.ts'
import { isRecord } from '../util/record.ts'
import { typesOf } from './input/tool-arguments.ts'
import { byteText, harmless, oneLine, type Terminal } from './terminal.ts'

/** The arguments of a tool in short form: `city: string, days?: integer`. */
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

/** A type as a schema describes it, in few words. */
export function typeText(schema: unknown): string {
  if (!isRecord(schema)) return 'any'
  if (Array.isArray(schema.enum))
    return oneLine(schema.enum.map(one => JSON.stringify(one)).join('|'), 60)
  if ('const' in schema) return oneLine(JSON.stringify(schema.const) ?? 'any', 60)
  const types = typesOf(schema)
  if (types.length === 0) return 'any'
  return types.map(type => (type === 'array' ? `${typeText(schema.items)}[]` : type)).join('|')
}

/** A block of content for people: text as it is, everything else as a note on what it is. */
export function contentText(block: unknown, isTerminal: boolean): string {
  if (!isRecord(block)) return '[something that is no content]'
  const clean = (text: unknown): string => (isTerminal ? harmless(String(text)) : String(text))
  switch (block.type) {
    case 'text':
      return clean(block.text)
    case 'image':
    case 'audio':
      return `[${block.type} ${oneLine(String(block.mimeType), 80)}, ${base64Size(block.data)}]`
    case 'resource_link':
      return `[link ${oneLine(String(block.uri), 300)}${named(block.name)}]`
    case 'resource':
      return resourceText(block.resource, isTerminal)
    default:
      return `[content of the type ${oneLine(JSON.stringify(block.type) ?? '', 40)}]`
  }
}

/** What a resource holds, for people. */
export function resourceText(resource: unknown, isTerminal: boolean): string {
  if (!isRecord(resource)) return '[something that is no resource]'
  if (typeof resource.text === 'string') return isTerminal ? harmless(resource.text) : resource.text
  const type = typeof resource.mimeType === 'string' ? ` ${oneLine(resource.mimeType, 80)}` : ''
  return `[bytes of ${oneLine(String(resource.uri), 300)},${type} ${base64Size(resource.blob)}]`
}

/** A message of a prompt, for people. */
export function messageText({ role, content }: PromptMessage, terminal: Terminal): string {
  // Some servers send a list, as sampling has it.
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content]
  const words = blocks.map(block => contentText(block, terminal.isInteractive)).join('\n')
  return `${terminal.paint(`${oneLine(role, 40)}:`, 'bold')} ${words}`
}

function base64Size(data: unknown): string {
  return typeof data === 'string' ? byteText(Buffer.byteLength(data, 'base64')) : 'nothing'
}

function named(name: unknown): string {
  return typeof name === 'string' && name !== '' ? `: ${oneLine(name, 100)}` : ''
}
