import * as core from '@modelcontextprotocol/core'
import * as sdk from '@modelcontextprotocol/sdk/types.js'
import type { Revision } from '../driver.ts'

/** The part that is used of a schema that the packages export. */
interface Parser {
  safeParse(value: unknown): {
    readonly success: boolean
    readonly error?: { readonly issues: readonly Issue[] }
  }
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

interface Schemas {
  readonly message: Parser
  readonly requests: ReadonlyMap<string, Parser>
  readonly results: ReadonlyMap<string, Parser>
  readonly notifications: ReadonlyMap<string, Parser>
}

/**
 * The schemas that packages publish: one has those of 2025-11-25, the other a common set for all
 * revisions it knows, which does not include the additional requirements of 2026-07-28. For older
 * revisions there are none.
 */
const schemas: ReadonlyMap<Revision, Schemas> = new Map([
  ['2025-11-25', collect(sdk)],
  ['2026-07-28', collect(core)],
])

/** The problems that the schemas of the packages find in a message; empty where they have no schema. */
export function officialProblems(
  revision: Revision,
  message: Readonly<Record<string, unknown>>,
  answers?: string,
): string[] {
  const known = schemas.get(revision)
  if (known === undefined) return []
  const found = problemsOf(known.message, message, 'official')
  const { method, result } = message
  if (typeof method === 'string') {
    const table = 'id' in message ? known.requests : known.notifications
    found.push(...problemsOf(table.get(method), message, 'official'))
  } else if (answers !== undefined && result !== undefined && !isInput(result)) {
    found.push(...problemsOf(known.results.get(answers), result, 'official result'))
  }
  return found
}

/** Neither package publishes a schema for results that request input. */
function isInput(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'resultType' in result
    ? result.resultType === 'input_required'
    : false
}

function problemsOf(parser: Parser | undefined, value: unknown, path: string): string[] {
  const issues = parser?.safeParse(value).error?.issues ?? []
  return issues.map(issue => `${[path, ...issue.path.map(String)].join('.')}: ${issue.message}`)
}

/** Finds the schemas of a module by their names and by the method that they describe. */
function collect(module: Readonly<Record<string, unknown>>): Schemas {
  const requests = new Map<string, Parser>()
  const results = new Map<string, Parser>()
  const notifications = new Map<string, Parser>()
  for (const [name, schema] of Object.entries(module)) {
    const method = methodOf(schema)
    if (method === undefined || !isParser(schema)) continue
    if (name.endsWith('NotificationSchema')) notifications.set(method, schema)
    if (!name.endsWith('RequestSchema')) continue
    requests.set(method, schema)
    const result = module[name.replace(/RequestSchema$/, 'ResultSchema')]
    const either = resultSchemas(method, result ?? module.ResultSchema, module)
    if (either !== undefined) results.set(method, either)
  }
  const message = module.JSONRPCMessageSchema
  if (!isParser(message)) throw new Error('the package has no schema for messages')
  return { message, requests, results, notifications }
}

/** A call may create a task, and sampling may use tools: then the result has another schema. */
function resultSchemas(
  method: string,
  usual: unknown,
  module: Readonly<Record<string, unknown>>,
): Parser | undefined {
  const others = new Map([
    ['tools/call', module.CreateTaskResultSchema],
    ['sampling/createMessage', module.CreateMessageResultWithToolsSchema],
  ])
  const other = others.get(method)
  if (!isParser(usual)) return undefined
  if (!isParser(other)) return usual
  return {
    safeParse(value) {
      const first = usual.safeParse(value)
      return first.success || !other.safeParse(value).success ? first : { success: true }
    },
  }
}

function isParser(value: unknown): value is Parser {
  return typeof value === 'object' && value !== null && 'safeParse' in value
}

/** The literal that a schema requires for the member `method`. */
function methodOf(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || !('shape' in schema)) return undefined
  const { shape } = schema
  if (typeof shape !== 'object' || shape === null || !('method' in shape)) return undefined
  const { method } = shape
  if (typeof method !== 'object' || method === null || !('value' in method)) return undefined
  return typeof method.value === 'string' ? method.value : undefined
}
