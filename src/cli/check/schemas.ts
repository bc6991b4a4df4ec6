import { nameAdvice, nameProblem, validateName } from '../../mcp/names.ts'
import { headerAnnotations } from '../../mcp/param-headers/annotations.ts'
import { checkSchema, copyOf } from '../../mcp/schema/json-schema.ts'
import { loadEngine } from '../../mcp/schema/validator/validator.ts'
import { pointer, walkSchema } from '../../mcp/schema/walk.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { oneLine } from '../terminal.ts'
import type { CheckContext, EraState } from './context.ts'
import { entriesOf } from './features.ts'
import {
  type Finding,
  fail,
  hint,
  limitFindings,
  notApplicable,
  ok,
  warn,
  worst,
} from './finding.ts'
import type { MessageObject } from './wire/wire.ts'

/** Step `schemas`: checks names, descriptions and schemas of the tools and prompts. */
export async function schemas(context: CheckContext): Promise<readonly Finding[]> {
  const findings = await context.inEachEra(async state => {
    const tools = entriesOf(state, 'tools/list')
    const prompts = entriesOf(state, 'prompts/list')
    if (tools.length + prompts.length === 0) return []
    const wrong: Finding[] = [...undescribed(tools)]
    for (const tool of tools) wrong.push(...(await toolFindings(state, tool)))
    if (worst(wrong) === 'warn' || worst(wrong) === 'fail')
      return limitFindings(wrong, limits.checkFindings.default)
    return [ok(`tools: ${tools.length}, prompts: ${prompts.length}, all valid`), ...wrong]
  })
  return findings.length === 0
    ? [notApplicable('the server has neither tools nor prompts')]
    : findings
}

function undescribed(tools: readonly MessageObject[]): readonly Finding[] {
  const without = tools.filter(
    ({ description }) => typeof description !== 'string' || description.trim() === '',
  )
  if (without.length === 0) return []
  const names = oneLine(without.map(({ name }) => String(name)).join(', '), 200)
  const advice = 'Describe each tool in a sentence: the model sees nothing else of it.'
  return [
    hint(`${without.length} of ${tools.length} tools without a description: ${names}`, advice),
  ]
}

async function toolFindings(
  { session }: EraState,
  tool: MessageObject,
): Promise<readonly Finding[]> {
  const name = oneLine(String(tool.name), 100)
  const findings = [...nameFindings(tool)]
  const input = await schemaProblem(tool.inputSchema)
  if (input !== undefined) {
    findings.push(
      fail(
        `the inputSchema of "${name}" ${input}`,
        'Use a JSON Schema (2020-12) with "type": "object"; for a tool without arguments { "type": "object" }.',
      ),
    )
  }
  const output =
    tool.outputSchema === undefined
      ? undefined
      : await schemaProblem(tool.outputSchema, session.era === 'session')
  if (output !== undefined) {
    findings.push(
      fail(
        `the outputSchema of "${name}" ${output}`,
        'Use a JSON Schema (2020-12); session revisions require "type": "object".',
      ),
    )
  }
  findings.push(...emptyEnums(name, tool))
  const annotations = headerAnnotations(tool.inputSchema)
  if (!annotations.ok) {
    findings.push(
      fail(
        `the tool "${name}" cannot be used over HTTP: ${annotations.why}`,
        'Use x-mcp-header only on strings, integers or booleans, each with a unique and valid header name.',
      ),
    )
  }
  return findings
}

/** Warns of each `enum` without values: a valid schema that no value matches. */
function emptyEnums(name: string, tool: MessageObject): readonly Finding[] {
  const findings: Finding[] = []
  for (const keyword of ['inputSchema', 'outputSchema']) {
    const schema = tool[keyword]
    if (!isRecord(schema)) continue
    try {
      walkSchema(schema, ({ schema: inner, path }) => {
        if (!Array.isArray(inner.enum) || inner.enum.length > 0) return
        const place = oneLine(pointer([...path, 'enum']), 100)
        findings.push(
          warn(
            `the ${keyword} of "${name}" has an empty enum at ${place}, which no value matches`,
            'List at least one value, or leave the enum out.',
          ),
        )
      })
    } catch {
      // An invalid schema has its own finding.
    }
  }
  return findings
}

/** Checks the name of a tool. The protocol recommends nothing about the names of prompts. */
function nameFindings({ name }: MessageObject): readonly Finding[] {
  const judged = validateName(name)
  if (judged.status === 'ok') return []
  const message = nameProblem(oneLine(String(name), 100), judged.reason)
  return [judged.status === 'invalid' ? fail(message, nameAdvice) : warn(message, nameAdvice)]
}

/** Returns what is wrong with a schema, as a predicate; undefined if it is valid. */
async function schemaProblem(schema: unknown, mustBeObject = true): Promise<string | undefined> {
  if (schema === undefined) return 'is missing'
  if (!isRecord(schema)) return 'is not an object'
  if (mustBeObject && schema.type !== 'object') {
    return `has ${schema.type === undefined ? 'no type' : `the type ${oneLine(JSON.stringify(schema.type), 60)}`} instead of "object"`
  }
  try {
    const copy = copyOf(schema)
    // Patterns are left to the clients: regular expression engines differ in what they reject.
    checkSchema(copy, { patterns: false, maxSize: limits.schemaSize.default })
    const engine = await loadEngine()
    engine.compile(copy)
    return undefined
  } catch (error) {
    return `is not a valid schema: ${oneLine(errorMessage(error), 200)}`
  }
}
