import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import { invalidParams } from '../../jsonrpc/error.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import type { IncomingRequest, NamedParams } from '../../server/request.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { matcher } from '../catalog/glob.ts'
import { type FoundTool, ToolIndex } from '../catalog/tool-index.ts'
import type { Route } from '../dispatch/route.ts'
import type { ToolSearchOptions } from '../options.ts'

/** A tool in a list, with its sort key for pagination. */
export interface ListedTool {
  readonly shown: Tool
  readonly place: number
}

/**
 * Replaces a long list of tools by two tools of the router: one finds tools, the other calls them. Tools
 * that are not listed can also be called by their names.
 */
export class ToolSearch {
  readonly #above: number
  readonly #results: number
  readonly #isVisible: (name: string) => boolean
  readonly #indexes = new WeakMap<Catalog, ToolIndex>()

  constructor({ above, results, visible = [] }: ToolSearchOptions) {
    // Without a number also an empty list is replaced, so that the list stays the same while servers start.
    this.#above = above ?? -1
    this.#results = results ?? limits.toolSearchResults.default
    this.#isVisible = matcher(visible)
  }

  /** Returns the tools to list: all of them, or those that stay visible after the two of the router. */
  listed(catalog: Catalog, routes: readonly Route[]): readonly ListedTool[] {
    const { tools } = catalog
    if (!this.#replaces(catalog)) return tools
    const visible = tools.filter(({ shown }) => this.#isVisible(shown.name))
    const servers = routes.map(route => route.name)
    const own = [searchTool(servers, this.#results), callTool]
    return [
      ...own.map((shown, place) => ({ shown, place })),
      ...visible.map(({ shown, place }) => ({ shown, place: place + own.length })),
    ]
  }

  /** Returns whether a tool is one of the two of the router. */
  isOwn(name: string): boolean {
    return name === searchName || name === callName
  }

  /** Returns the result of a search; undefined for a call of another tool. Throws an RpcError for invalid arguments. */
  search(catalog: Catalog, name: string, request: IncomingRequest): NamedParams | undefined {
    if (name !== searchName || !this.#replaces(catalog)) return undefined
    const { query, limit = this.#results } = argumentsOf(request)
    if (typeof query !== 'string') throw invalidParams('query must be a string')
    if (typeof limit !== 'number' || !(limit >= 1)) throw invalidParams('limit must be at least 1')
    const found = this.#indexOf(catalog).find(query, Math.min(limit, this.#results))
    const text = `${found.length} of ${catalog.tools.length} tools: [${describeAll(found).join()}]`
    return { content: [{ type: 'text', text }] }
  }

  /** Returns the call that `call_tool` requests; undefined for a call of another tool. Throws as `search` does. */
  target(catalog: Catalog, name: string, request: IncomingRequest): IncomingRequest | undefined {
    if (name !== callName || !this.#replaces(catalog)) return undefined
    const { name: called, arguments: args = {} } = argumentsOf(request)
    if (typeof called !== 'string') throw invalidParams('name must be a string')
    if (this.isOwn(called)) {
      throw invalidParams(`${called} cannot be called by ${callName}`)
    }
    return { ...request, params: { ...request.params, name: called, arguments: args } }
  }

  /** Returns the name of the tool that a request calls, in whichever way. */
  calledName(catalog: Catalog, request: IncomingRequest): unknown {
    const { name } = request.params
    if (name !== callName || !this.#replaces(catalog)) return name
    return argumentsOf(request).name
  }

  #replaces({ tools }: Catalog): boolean {
    return tools.length > this.#above
  }

  #indexOf(catalog: Catalog): ToolIndex {
    let index = this.#indexes.get(catalog)
    if (index === undefined) {
      index = new ToolIndex(catalog.tools.map(({ shown }) => shown).filter(isForModels))
      this.#indexes.set(catalog, index)
    }
    return index
  }
}

const searchName = 'search_tools'
const callName = 'call_tool'

function argumentsOf({ params }: IncomingRequest): Readonly<Record<string, unknown>> {
  const { arguments: args } = parseRaw(params)
  return isRecord(args) ? args : {}
}

/** Whether a model may call a tool. Those of the user interface of a server (MCP Apps) are for that alone. */
function isForModels({ _meta }: Tool): boolean {
  const ui = isRecord(_meta) ? _meta.ui : undefined
  const visibility = isRecord(ui) ? ui.visibility : undefined
  return !Array.isArray(visibility) || visibility.includes('model')
}

/** Describes the tools that were found: the first one completely, the others within `toolSearchBytes` together. */
function describeAll(found: readonly FoundTool[]): readonly string[] {
  let left: number = limits.toolSearchBytes.default
  return found.map(({ tool: { name, description, inputSchema }, fit }, at) => {
    const head = { name, fit: Number(fit.toFixed(2)) }
    const whole = JSON.stringify({ ...head, description, inputSchema })
    const short = { ...head, description: description?.slice(0, left), inputSchema: tooLong }
    const text = at === 0 || whole.length <= left ? whole : JSON.stringify(short)
    left = Math.max(0, left - text.length)
    return text
  })
}

const tooLong = 'left out, because it is long; search for the name of the tool with limit 1'

/** Names all servers, those that are starting too: hosts cache prompts that contain its definition. */
function searchTool(servers: readonly string[], results: number): Tool {
  return {
    name: searchName,
    description: `Finds tools by words of their names, descriptions and arguments. Most tools of these servers are not listed here: ${servers.join(', ')}. Call what you find with ${callName}.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in a few words.' },
        limit: { type: 'integer', minimum: 1, maximum: results },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  }
}

const callTool: Tool = {
  name: callName,
  description: `Calls a tool that ${searchName} has found.`,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'The name of the tool.' },
      arguments: { type: 'object', description: 'Its arguments, as its inputSchema says.' },
    },
    required: ['name'],
  },
}
