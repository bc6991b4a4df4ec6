import { readValue } from '../../jsonrpc/codec/raw-json.ts'
import { headerAnnotations } from '../../mcp/param-headers/annotations.ts'
import { encodeHeader } from '../../mcp/param-headers/encoding.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'

/** From the name of a header to the path of its argument. */
type Annotations = ReadonlyMap<string, readonly string[]>

/**
 * Knows which arguments of which tools travel as headers too, from the lists of tools that passed by.
 */
export class AnnotatedTools {
  readonly #tools = new Map<string, Annotations>()
  readonly #most: number

  constructor(most: number = limits.headerTools.default) {
    this.#most = most
  }

  /**
   * Looks at the result of `tools/list` and gives it back without the tools that must not be used over
   * HTTP, each of which `onDropped` is told of.
   */
  learn(result: unknown, onDropped: (tool: string, why: string) => void): unknown {
    if (!isRecord(result) || !Array.isArray(result.tools)) return result
    const kept = result.tools.filter(tool => {
      if (!isRecord(tool) || typeof tool.name !== 'string') return true
      const found = headerAnnotations(tool.inputSchema)
      this.#set(tool.name, found.ok ? found.headers : undefined)
      if (!found.ok) onDropped(tool.name, found.why)
      return found.ok
    })
    return kept.length === result.tools.length ? result : { ...result, tools: kept }
  }

  /** The headers that repeat arguments of a `tools/call`. */
  headersOf(params: unknown): Record<string, string> {
    const headers: Record<string, string> = {}
    if (!isRecord(params) || typeof params.name !== 'string') return headers
    for (const [header, path] of this.#tools.get(params.name) ?? []) {
      const value = textAt(readValue(params.arguments), path)
      if (value !== undefined) headers[header] = value
    }
    return headers
  }

  #set(name: string, annotations: Annotations | undefined): void {
    this.#tools.delete(name)
    if (annotations === undefined || annotations.size === 0) return
    this.#tools.set(name, annotations)
    const [oldest] = this.#tools.keys()
    if (this.#tools.size > this.#most && oldest !== undefined) this.#tools.delete(oldest)
  }
}

/** The argument at a path as a header carries it; undefined where there is none that a header can. */
function textAt(value: unknown, path: readonly string[]): string | undefined {
  let at = value
  for (const key of path) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined
    at = at[key]
  }
  if (typeof at === 'string') return encodeHeader(at)
  if (typeof at === 'boolean') return String(at)
  return Number.isSafeInteger(at) ? String(at) : undefined
}
