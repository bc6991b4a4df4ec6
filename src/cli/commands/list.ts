import type { Client } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { didYouMean } from '../../util/did-you-mean.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { argumentText } from '../formats.ts'
import type { Run } from '../invocation.ts'
import { learnMissing } from '../missing.ts'
import { withTarget } from '../target/connect.ts'
import { oneLine, type Terminal } from '../terminal.ts'

const kinds = ['tools', 'resources', 'templates', 'prompts'] as const
type Kind = (typeof kinds)[number]

/** What a server offers, of what was asked for. */
interface Offers {
  readonly tools?: readonly Tool[]
  readonly resources?: readonly Resource[]
  readonly templates?: readonly ResourceTemplate[]
  readonly prompts?: readonly Prompt[]
}

/** Shows what a server is and what it offers. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  checkKinds(input.program === undefined ? input.operands.slice(1) : input.operands)
  return withTarget(invocation, async ({ client, operands }) => {
    const wanted = operands.length === 0 ? kinds : kinds.filter(kind => operands.includes(kind))
    const missing = new Map<string, string>()
    const offers = await offersOf(client, wanted, invocation.signal, missing)
    if (input.has('json')) {
      const unavailable = missing.size > 0 && { unavailable: Object.fromEntries(missing) }
      terminal.json({ server: described(client), ...offers, ...unavailable })
    } else {
      show(client, offers, terminal)
      showMissing(missing, terminal)
    }
    return exitCodes.ok
  })
}

function checkKinds(given: readonly string[]): void {
  for (const kind of given) {
    if (kinds.some(one => one === kind)) continue
    const meant = didYouMean(kind, kinds)
    throw new UsageError(`what can be listed is ${kinds.join(', ')}, not "${kind}"${meant}`)
  }
}

async function offersOf(
  client: Client,
  wanted: readonly Kind[],
  signal: AbortSignal,
  missing: Map<string, string>,
): Promise<Offers> {
  const { capabilities } = client.server
  const how = { signal, onMeta: (meta: Members) => learnMissing(meta, missing) }
  const lists = {
    tools: () => (capabilities.tools ? all(client.tools(how)) : undefined),
    resources: () => (capabilities.resources ? all(client.resources(how)) : undefined),
    templates: () => (capabilities.resources ? allThere(client.resourceTemplates(how)) : undefined),
    prompts: () => (capabilities.prompts ? all(client.prompts(how)) : undefined),
  }
  const found = wanted.map(async kind => [kind, await lists[kind]()] as const)
  const offers = (await Promise.all(found)).filter(([, list]) => list !== undefined)
  // The check: each list is under the name of its kind.
  return Object.fromEntries(offers) as Offers
}

async function all<T>(entries: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const entry of entries) found.push(entry)
  return found
}

/** Templates have no capability of their own: a server with resources may know none. */
async function allThere<T>(entries: AsyncIterable<T>): Promise<readonly T[]> {
  try {
    return await all(entries)
  } catch (error) {
    if (error instanceof RpcError && error.code === -32601) return []
    throw error
  }
}

function described({ server }: Client): object {
  const { revision, ...said } = server
  return { ...said, revision: revision.name, era: revision.era }
}

function show(client: Client, offers: Offers, terminal: Terminal): void {
  const { name, title, version, revision, instructions } = client.server
  const called = oneLine(title === undefined || title === name ? name : `${title} (${name})`, 200)
  terminal.line(`${terminal.paint(called || '(no name)', 'bold')} ${oneLine(version, 60)}`)
  terminal.line(`revision ${revision.name}, ${eraText[revision.era]}`)
  if (instructions !== undefined) terminal.line(oneLine(instructions, terminal.width * 3))
  section('Tools', offers.tools, terminal, tool => [
    `${oneLine(tool.name, 128)}(${oneLine(argumentText(tool.inputSchema), 300)})`,
    tool.description ?? tool.title,
  ])
  section(
    'Resources',
    offers.resources,
    terminal,
    ({ uri, name: label, title: words, mimeType, description }) => [
      `${oneLine(uri, 300)}${mimeType === undefined ? '' : ` (${oneLine(mimeType, 80)})`}`,
      description ?? words ?? label,
    ],
  )
  section('Resource templates', offers.templates, terminal, template => [
    oneLine(template.uriTemplate, 300),
    template.description ?? template.title ?? template.name,
  ])
  section('Prompts', offers.prompts, terminal, prompt => [
    `${oneLine(prompt.name, 128)}(${promptArguments(prompt)})`,
    prompt.description ?? prompt.title,
  ])
}

function showMissing(missing: ReadonlyMap<string, string>, terminal: Terminal): void {
  if (missing.size === 0) return
  terminal.line()
  terminal.line(terminal.paint(`Unavailable (${missing.size})`, 'bold'))
  for (const [server, reason] of missing) {
    terminal.line(`  ${terminal.paint(oneLine(server, 64), 'red')}`)
    terminal.line(`      ${oneLine(reason, 500)}`)
  }
}

const eraText = { session: 'with sessions', stateless: 'stateless' } as const

function section<T>(
  heading: string,
  entries: readonly T[] | undefined,
  terminal: Terminal,
  rowOf: (entry: T) => readonly [string, string | undefined],
): void {
  if (entries === undefined || entries.length === 0) return
  terminal.line()
  terminal.line(terminal.paint(`${heading} (${entries.length})`, 'bold'))
  for (const entry of entries) {
    const [head, about] = rowOf(entry)
    terminal.line(`  ${terminal.paint(head, 'cyan')}`)
    if (about) terminal.line(`      ${oneLine(about, Math.max(terminal.width - 6, 20))}`)
  }
}

function promptArguments({ arguments: wanted = [] }: Prompt): string {
  return oneLine(
    wanted.map(({ name, required }) => `${name}${required ? '' : '?'}`).join(', '),
    300,
  )
}
