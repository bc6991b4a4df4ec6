import type { Client } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { didYouMean } from '../../util/nearest.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { argumentText, collectUnavailable } from '../formats.ts'
import type { Run } from '../invocation.ts'
import { withTarget } from '../target/connect.ts'
import { oneLine, type Terminal } from '../terminal.ts'

const kinds = ['tools', 'resources', 'templates', 'prompts'] as const
type Kind = (typeof kinds)[number]

/** The requested lists of a server; a list is absent if the server lacks its capability. */
interface Listing {
  readonly tools?: readonly Tool[]
  readonly resources?: readonly Resource[]
  readonly templates?: readonly ResourceTemplate[]
  readonly prompts?: readonly Prompt[]
}

/** `trunkline list`: prints the identity of a server and its tools, resources and prompts. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  checkKinds(input.program === undefined ? input.operands.slice(1) : input.operands)
  return withTarget(invocation, async ({ client, operands }) => {
    const wanted = operands.length === 0 ? kinds : kinds.filter(kind => operands.includes(kind))
    const unavailable = new Map<string, string>()
    const listing = await listingOf(client, wanted, invocation.signal, unavailable)
    if (input.has('json')) {
      const missing = unavailable.size > 0 && { unavailable: Object.fromEntries(unavailable) }
      terminal.json({ server: serverInfoOf(client), ...listing, ...missing })
    } else {
      show(client, listing, terminal)
      showUnavailable(unavailable, terminal)
    }
    return exitCodes.ok
  })
}

function checkKinds(given: readonly string[]): void {
  for (const kind of given) {
    if (kinds.some(one => one === kind)) continue
    const meant = didYouMean(kind, kinds)
    throw new UsageError(`cannot list "${kind}"; use ${kinds.join(', ')}${meant}`)
  }
}

async function listingOf(
  client: Client,
  wanted: readonly Kind[],
  signal: AbortSignal,
  unavailable: Map<string, string>,
): Promise<Listing> {
  const { capabilities } = client.server
  const how = { signal, onMeta: (meta: Members) => collectUnavailable(meta, unavailable) }
  const lists = {
    tools: () => (capabilities.tools ? all(client.tools(how)) : undefined),
    resources: () => (capabilities.resources ? all(client.resources(how)) : undefined),
    templates: () =>
      capabilities.resources ? allOrNone(client.resourceTemplates(how)) : undefined,
    prompts: () => (capabilities.prompts ? all(client.prompts(how)) : undefined),
  }
  const found = wanted.map(async kind => [kind, await lists[kind]()] as const)
  const listing = (await Promise.all(found)).filter(([, list]) => list !== undefined)
  // The check: each list is stored under the name of its kind.
  return Object.fromEntries(listing) as Listing
}

async function all<T>(entries: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const entry of entries) found.push(entry)
  return found
}

/**
 * Reads resource templates; empty if the server does not support them. They have no capability of their own, so a
 * server with resources may lack them.
 */
async function allOrNone<T>(entries: AsyncIterable<T>): Promise<readonly T[]> {
  try {
    return await all(entries)
  } catch (error) {
    if (error instanceof RpcError && error.code === -32601) return []
    throw error
  }
}

function serverInfoOf({ server }: Client): object {
  const { revision, ...rest } = server
  return { ...rest, revision: revision.name, era: revision.era }
}

function show(client: Client, listing: Listing, terminal: Terminal): void {
  const { name, title, version, revision, instructions } = client.server
  const label = oneLine(title === undefined || title === name ? name : `${title} (${name})`, 200)
  terminal.line(`${terminal.style(label || '(no name)', 'bold')} ${oneLine(version, 60)}`)
  terminal.line(`revision ${revision.name}, ${eraText[revision.era]}`)
  if (instructions !== undefined) terminal.line(oneLine(instructions, terminal.width * 3))
  section('Tools', listing.tools, terminal, tool => [
    `${oneLine(tool.name, 128)}(${oneLine(argumentText(tool.inputSchema), 300)})`,
    tool.description ?? tool.title,
  ])
  section(
    'Resources',
    listing.resources,
    terminal,
    ({ uri, name, title, mimeType, description }) => [
      `${oneLine(uri, 300)}${mimeType === undefined ? '' : ` (${oneLine(mimeType, 80)})`}`,
      description ?? title ?? name,
    ],
  )
  section('Resource templates', listing.templates, terminal, template => [
    oneLine(template.uriTemplate, 300),
    template.description ?? template.title ?? template.name,
  ])
  section('Prompts', listing.prompts, terminal, prompt => [
    `${oneLine(prompt.name, 128)}(${promptArguments(prompt)})`,
    prompt.description ?? prompt.title,
  ])
}

function showUnavailable(unavailable: ReadonlyMap<string, string>, terminal: Terminal): void {
  if (unavailable.size === 0) return
  terminal.line()
  terminal.line(terminal.style(`Unavailable (${unavailable.size})`, 'bold'))
  for (const [server, reason] of unavailable) {
    terminal.line(`  ${terminal.style(oneLine(server, 64), 'red')}`)
    terminal.line(`      ${oneLine(reason, 500)}`)
  }
}

const eraText = { session: 'session era', stateless: 'stateless era' } as const

function section<T>(
  heading: string,
  entries: readonly T[] | undefined,
  terminal: Terminal,
  rowOf: (entry: T) => readonly [string, string | undefined],
): void {
  if (entries === undefined || entries.length === 0) return
  terminal.line()
  terminal.line(terminal.style(`${heading} (${entries.length})`, 'bold'))
  for (const entry of entries) {
    const [head, about] = rowOf(entry)
    terminal.line(`  ${terminal.style(head, 'cyan')}`)
    if (about) terminal.line(`      ${oneLine(about, Math.max(terminal.width - 6, 20))}`)
  }
}

function promptArguments({ arguments: wanted = [] }: Prompt): string {
  return oneLine(
    wanted.map(({ name, required }) => `${name}${required ? '' : '?'}`).join(', '),
    300,
  )
}
