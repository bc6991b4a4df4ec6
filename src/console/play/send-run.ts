import type { Client } from '../../client/client.ts'
import { issueText } from '../../mcp/schema/issues.ts'
import { compileSchema } from '../../mcp/schema/schema.ts'
import { parseTemplate } from '../../mcp/uri-template/template.ts'
import type { Router } from '../../router/router.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { ProgressRow, RunRequest, ValidateAnswer } from '../wire-play.ts'
import type { RunResult } from './run.ts'

/** How a request is followed and stopped. */
interface SendOptions {
  readonly signal: AbortSignal
  readonly onProgress: (progress: ProgressRow) => void
}

/** Sends the request of a call. The result of a tool is compared with the output schema of the tool. */
export async function sendRun(
  client: Client,
  router: Router,
  { method, params, variables }: Pick<RunRequest, 'method' | 'params' | 'variables'>,
  { signal, onProgress }: SendOptions,
): Promise<RunResult> {
  // The time limit of the playground stops with questions, which that of the client would not.
  const options = { signal, onProgress, timeoutMs: 0, maxTotalMs: limits.consoleRunMaxMs.default }
  if (method === 'tools/call') {
    const name = String(params.name)
    const given = isRecord(params.arguments) ? params.arguments : undefined
    const { raw } = await client.call(name, given, options)
    const schema = router.toolDefinitions().find(each => each.name === name)
      ?.definition.outputSchema
    if (schema === undefined || raw.isError === true) return { result: raw }
    const mismatch = await mismatchOf(schema, raw.structuredContent)
    return { result: raw, isChecked: true, ...(mismatch !== undefined && { mismatch }) }
  }
  const sent =
    variables === undefined ? params : { ...params, uri: expanded(String(params.uri), variables) }
  return { result: await client.request(method, sent, options) }
}

/** Returns the problems of a value. A schema that cannot be used is a problem of the whole value. */
export async function valueIssues(schema: unknown, value: unknown): Promise<ValidateAnswer> {
  try {
    const given = isRecord(schema) ? schema : {}
    const options = {
      what: 'the schema',
      side: 'output',
      defaults: false,
      isForeign: true,
    } as const
    const checked = await compileSchema(given, options).check(value)
    return { issues: checked.ok ? [] : checked.issues }
  } catch (error) {
    return { issues: [{ path: [], message: errorMessage(error) }] }
  }
}

async function mismatchOf(schema: unknown, value: unknown): Promise<string | undefined> {
  if (value === undefined) return 'the result has no structured content'
  const { issues } = await valueIssues(schema, value)
  return issues.length === 0 ? undefined : issueText(issues)
}

/** Expands a URI template; an empty value counts as absent. Throws a TypeError as `UriTemplate.expand` does. */
function expanded(template: string, values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '')
  return parseTemplate(template).expand(Object.fromEntries(given))
}
