import type { Client } from '../../client/client.ts'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { didYouMean } from '../../util/nearest.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { exitCodes, exitNameOf, UsageError } from '../exit.ts'
import { argumentText, collectUnavailable } from '../formats.ts'
import type { Run } from '../invocation.ts'
import { withTarget } from '../target/connect.ts'
import { checkDashes } from '../target/target.ts'
import { oneLine, type Terminal } from '../terminal.ts'

const kinds = ['tools', 'resources', 'templates', 'prompts'] as const
type Kind = (typeof kinds)[number]

/** The requested lists of a server; a list is absent if the server lacks its capability, or if it failed. */
interface Listing {
  readonly tools?: readonly Tool[]
  readonly resources?: readonly Resource[]
  readonly templates?: readonly ResourceTemplate[]
  readonly prompts?: readonly Prompt[]
}

/** What a server has answered to the requests for its lists. */
interface Answers {
  readonly listing: Listing
  /** The errors of the lists that failed. */
  readonly failed: ReadonlyMap<Kind, unknown>
  /** The servers that a router reports as unavailable, with the reasons. */
  readonly unavailable: ReadonlyMap<string, string>
}

/**
 * `trunkline list`: prints the identity of a server and its tools, resources and prompts. A list that fails costs
 * one line, not the others. The exit code says whether the requested lists were read; without a request, the tools.
 */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  const operands = input.program === undefined ? targetFirst(input.operands) : input.operands
  if (input.program === undefined) checkDashes(operands, 'list')
  checkKinds(input.program === undefined ? operands.slice(1) : operands)
  return withTarget({ ...invocation, input: { ...input, operands } }, async opened => {
    const { client, operands: named } = opened
    const wanted = named.length === 0 ? kinds : kinds.filter(kind => named.includes(kind))
    const answers = await readLists(client, wanted, invocation.signal)
    const { listing, failed, unavailable } = answers
    if (input.has('json')) {
      terminal.json({
        server: serverInfoOf(client),
        ...listing,
        ...(failed.size > 0 && { failed: Object.fromEntries(failureTexts(failed)) }),
        ...(unavailable.size > 0 && { unavailable: Object.fromEntries(unavailable) }),
      })
    } else {
      show(client, listing, terminal)
      showUnavailable(unavailable, terminal)
      for (const [kind, text] of failureTexts(failed)) {
        terminal.error(`${terminal.styleStderr(`${kind}:`, 'yellow')} ${text}`)
      }
    }
    const required = named.length === 0 ? (['tools'] as const) : wanted
    const missing = required.find(kind => failed.has(kind))
    return missing === undefined ? exitCodes.ok : exitCodes[exitNameOf(failed.get(missing))]
  })
}

/** Puts the target before the kinds: `list tools http://…` means the same as `list http://… tools`. */
function targetFirst(operands: readonly string[]): readonly string[] {
  const [first = ''] = operands
  const other = isKind(first) ? operands.find(one => !isKind(one)) : undefined
  return other === undefined ? operands : [other, ...operands.filter(one => one !== other)]
}

function isKind(text: string): boolean {
  return kinds.some(one => one === text)
}

function checkKinds(given: readonly string[]): void {
  for (const kind of given) {
    if (isKind(kind)) continue
    const meant = didYouMean(kind, kinds)
    throw new UsageError(`cannot list "${kind}"; use ${kinds.join(', ')}${meant}`)
  }
}

/** Reads the lists. Throws only if the connection failed before any list was read, or if `signal` is aborted. */
async function readLists(
  client: Client,
  wanted: readonly Kind[],
  signal: AbortSignal,
): Promise<Answers> {
  const { capabilities } = client.server
  const unavailable = new Map<string, string>()
  const how = { signal, onMeta: (meta: Members) => collectUnavailable(meta, unavailable) }
  const lists = {
    tools: () => (capabilities.tools ? all(client.tools(how)) : undefined),
    resources: () => (capabilities.resources ? all(client.resources(how)) : undefined),
    templates: () =>
      capabilities.resources ? allOrNone(client.resourceTemplates(how)) : undefined,
    prompts: () => (capabilities.prompts ? all(client.prompts(how)) : undefined),
  }
  const found = new Map<Kind, readonly unknown[]>()
  const failed = new Map<Kind, unknown>()
  const read = async (kind: Kind): Promise<void> => {
    try {
      const list = await lists[kind]()
      if (list !== undefined) found.set(kind, list)
    } catch (error) {
      failed.set(kind, error)
    }
  }
  await Promise.all(wanted.map(read))
  signal.throwIfAborted()
  const lost = [...failed.values()].find(error => error instanceof ChannelError)
  if (found.size === 0 && lost !== undefined) throw lost
  // The check: each list is stored under the name of its kind.
  return { listing: Object.fromEntries(found) as Listing, failed, unavailable }
}

function failureTexts(failed: ReadonlyMap<Kind, unknown>): readonly (readonly [Kind, string])[] {
  const inOrder = kinds.filter(kind => failed.has(kind))
  return inOrder.map(kind => [kind, oneLine(errorMessage(failed.get(kind)), 500)])
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
