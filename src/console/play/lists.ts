import type { Client } from '../../client/client.ts'
import { parseTemplate } from '../../mcp/uri-template/template.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { PlayLists, PlayPrompt, PlayResource, PlayTemplate, PlayTool } from '../wire-play.ts'

/** Reads what callers see, through a client. A list that cannot be read is empty, with a problem. */
export async function playLists(client: Client): Promise<Omit<PlayLists, 'revisions'>> {
  const problems: string[] = []
  const list = (method: string, member: string): Promise<readonly Entry[]> =>
    entriesOf(client, method, member).then(
      ({ entries, isCut }) => {
        if (isCut) problems.push(`${method}: only the first ${entries.length} are listed`)
        return entries
      },
      (error: unknown) => {
        problems.push(`${method}: ${errorMessage(error)}`)
        return []
      },
    )
  const [tools, prompts, resources, templates] = await Promise.all([
    list('tools/list', 'tools'),
    list('prompts/list', 'prompts'),
    list('resources/list', 'resources'),
    list('resources/templates/list', 'resourceTemplates'),
  ])
  return {
    tools: tools.map(playTool),
    prompts: prompts.map(playPrompt),
    resources: resources.map(playResource),
    templates: templates.map(playTemplate),
    problems,
  }
}

type Entry = Readonly<Record<string, unknown>>

/**
 * Reads the pages of a list. Not by the lists of the client, which remember the output schemas: results that do not
 * match them would then be rejected, and the playground shows them.
 */
async function entriesOf(
  client: Client,
  method: string,
  member: string,
): Promise<{ readonly entries: readonly Entry[]; readonly isCut: boolean }> {
  const most = limits.consoleListEntries.default
  const entries: Entry[] = []
  let cursor: unknown
  do {
    const params = cursor === undefined ? {} : { cursor }
    const page: unknown = await client.request(method, params, { fresh: true })
    if (!isRecord(page)) break
    const found = page[member]
    if (Array.isArray(found)) entries.push(...found.filter(isRecord))
    cursor = page.nextCursor
  } while (typeof cursor === 'string' && entries.length < most)
  const isCut = entries.length > most || typeof cursor === 'string'
  return { entries: entries.slice(0, most), isCut }
}

function playTool(entry: Entry): PlayTool {
  const { inputSchema, outputSchema, annotations } = entry
  return {
    ...labels(entry),
    name: text(entry.name),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(isRecord(annotations) && { annotations }),
  }
}

function playPrompt(entry: Entry): PlayPrompt {
  const given: readonly unknown[] = Array.isArray(entry.arguments) ? entry.arguments : []
  return {
    ...labels(entry),
    name: text(entry.name),
    arguments: given.filter(isRecord).map(one => ({
      name: text(one.name),
      ...(typeof one.description === 'string' && { description: one.description }),
      ...(one.required === true && { required: true }),
    })),
  }
}

function playResource(entry: Entry): PlayResource {
  const { mimeType } = entry
  return {
    ...labels(entry),
    uri: text(entry.uri),
    name: text(entry.name),
    ...(typeof mimeType === 'string' && { mimeType }),
  }
}

function playTemplate(entry: Entry): PlayTemplate {
  const uriTemplate = text(entry.uriTemplate)
  return {
    ...labels(entry),
    uriTemplate,
    name: text(entry.name),
    variables: variablesOf(uriTemplate),
  }
}

function variablesOf(template: string): readonly string[] {
  try {
    return parseTemplate(template).variables
  } catch {
    // It is shown as a URI that can be edited.
    return []
  }
}

function labels({ title, description }: Entry): {
  readonly title?: string
  readonly description?: string
} {
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && {
      description: description.slice(0, limits.consoleTextLength.default),
    }),
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
