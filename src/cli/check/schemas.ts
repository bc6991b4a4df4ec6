import { judgeName } from '../../mcp/names.ts'
import { headerAnnotations } from '../../mcp/param-headers/annotations.ts'
import { checkSchema, copyOf } from '../../mcp/schema/json-schema.ts'
import { loadEngine } from '../../mcp/schema/validator.ts'
import { errorWords } from '../../util/error-words.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import { oneLine } from '../terminal.ts'
import type { Known, Probe } from './context.ts'
import { entriesOf } from './features.ts'
import { bounded, type Finding, fail, none, ok, warn } from './finding.ts'
import type { Heard } from './wire.ts'

/** Whether what the lists hold can be used: names, descriptions, and the schemas of tools. */
export async function schemas(probe: Probe): Promise<readonly Finding[]> {
  const findings = await probe.inEach(async known => {
    const tools = entriesOf(known, 'tools/list')
    const prompts = entriesOf(known, 'prompts/list')
    if (tools.length + prompts.length === 0) return []
    const wrong: Finding[] = [...undescribed(tools)]
    for (const tool of tools) wrong.push(...(await toolFindings(known, tool)))
    for (const prompt of prompts) wrong.push(...nameFindings('prompt', prompt))
    if (wrong.length > 0) return bounded(wrong, limits.checkFindings.default)
    return [ok(`well described: tools ${tools.length}, prompts ${prompts.length}`)]
  })
  return findings.length === 0 ? [none('the server has neither tools nor prompts')] : findings
}

function undescribed(tools: readonly Heard[]): readonly Finding[] {
  const mute = tools.filter(
    ({ description }) => typeof description !== 'string' || description.trim() === '',
  )
  if (mute.length === 0) return []
  const names = oneLine(mute.map(({ name }) => String(name)).join(', '), 200)
  const advice = 'Say in a sentence what each does: it is all that a model sees.'
  return [warn(`${mute.length} of ${tools.length} tools have no description: ${names}`, advice)]
}

async function toolFindings({ talk }: Known, tool: Heard): Promise<readonly Finding[]> {
  const name = oneLine(String(tool.name), 100)
  const findings = [...nameFindings('tool', tool)]
  const input = await schemaProblem(tool.inputSchema)
  if (input !== undefined) {
    findings.push(
      fail(
        `the inputSchema of "${name}" ${input}`,
        'Make it a JSON Schema (2020-12) with "type": "object"; without arguments it is { "type": "object" }.',
      ),
    )
  }
  const output =
    tool.outputSchema === undefined
      ? undefined
      : await schemaProblem(tool.outputSchema, talk.era === 'session')
  if (output !== undefined) {
    findings.push(
      fail(
        `the outputSchema of "${name}" ${output}`,
        'Make it a JSON Schema (2020-12); session revisions want "type": "object" there.',
      ),
    )
  }
  const annotations = headerAnnotations(tool.inputSchema)
  if (!annotations.ok) {
    findings.push(
      fail(
        `the tool "${name}" cannot be used over HTTP: ${annotations.why}`,
        'Put x-mcp-header on strings, integers or booleans only, each with a name of its own that a header can have.',
      ),
    )
  }
  return findings
}

function nameFindings(what: string, { name }: Heard): readonly Finding[] {
  const judged = judgeName(name)
  if (judged.verdict === 'ok') return []
  const saw = `the name of the ${what} "${oneLine(String(name), 100)}" ${judged.reason}`
  const advice = 'Use 1 to 128 letters, digits, "_", "-" and ".".'
  return [judged.verdict === 'refusal' ? fail(saw, advice) : warn(saw, advice)]
}

/** What is wrong with a schema, in words; undefined for a good one. */
async function schemaProblem(schema: unknown, isObject = true): Promise<string | undefined> {
  if (schema === undefined) return 'is missing'
  if (!isRecord(schema)) return 'is no object'
  if (isObject && schema.type !== 'object') {
    return `has ${schema.type === undefined ? 'no type' : `the type ${oneLine(JSON.stringify(schema.type), 60)}`} instead of "object"`
  }
  try {
    const copy = copyOf(schema)
    // Patterns are the business of whoever uses them: not every engine refuses the same ones.
    checkSchema(copy, { patterns: false })
    const engine = await loadEngine()
    engine.compile(copy)
    return undefined
  } catch (error) {
    return `is no valid schema: ${oneLine(errorWords(error), 200)}`
  }
}
