import { tasksExtension } from '../../mcp/extension.ts'
import { headerAnnotations } from '../../mcp/param-headers/annotations.ts'
import type { MirroredArguments } from '../../mcp/param-headers/compare.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Tool, ToolAnnotations } from '../../mcp/types/tools.ts'
import { parseTemplate, type UriTemplate } from '../../mcp/uri-template/template.ts'
import type { Route } from '../dispatch/route.ts'
import type { Pins } from '../pins/pins.ts'
import { matcher } from './glob.ts'
import type { Lists } from './lists.ts'
import { type Exposing, exposeTools } from './names.ts'

/** A tool or prompt as callers see it, and where it is. */
export interface Entry<T> {
  readonly route: Route
  /** What its server calls it. */
  readonly name: string
  /** As callers see it. */
  readonly shown: T
  /** Grows along the list, and stays the same while only other servers change. */
  readonly place: number
}

/** A tool, and whether its server takes calls of it as tasks. */
export interface ToolEntry extends Entry<Tool> {
  readonly task: 'forbidden' | 'optional' | 'required'
  /** Whether it is the server alone that decides which calls become tasks. */
  readonly isServersChoice: boolean
  /** What is believed of it: what its server says, or its operator, or nothing. */
  readonly believed: ToolAnnotations | undefined
  /** Its arguments that HTTP requests repeat as headers; undefined where there are none. */
  readonly mirrored: MirroredArguments | undefined
}

/** A resource, and where it is. */
export interface ResourceEntry {
  readonly route: Route
  readonly shown: Resource
  readonly place: number
}

/** A family of resources, and where it is. */
export interface TemplateEntry {
  readonly route: Route
  readonly shown: ResourceTemplate
  readonly place: number
  /** Undefined for one that cannot be read, which is listed all the same. */
  readonly template: UriTemplate | undefined
}

/** Something that a server offers and callers do not see. */
export interface HiddenEntry {
  readonly server: string
  readonly what: 'tool' | 'prompt' | 'resource'
  readonly name: string
  readonly why: string
}

/** So many entries of one server have places of their own. */
const placesPerServer = 2 ** 20

/** The tools that callers see. Those that they do not see are added to `hidden`. */
export function toolEntries(
  routes: readonly Route[],
  pins: Pins | undefined,
  hidden: HiddenEntry[],
): readonly ToolEntry[] {
  const placeIn = places()
  const listed = named('tool', routes, hidden, ({ name, upstream }) => ({
    name,
    prefix: upstream.options.prefix,
    rules: upstream.options.tools,
    tools: upstream.lists.tools,
  }))
  const entries: ToolEntry[] = []
  for (const { route, tool, exposedName } of listed) {
    const why = blocked(route, tool, pins)
    if (why === undefined) {
      entries.push({ ...toolEntry(route, tool, exposedName), place: placeIn(route) })
    } else hidden.push({ server: route.name, what: 'tool', name: tool.name, why })
  }
  return entries
}

/** The same for prompts. */
export function promptEntries(
  routes: readonly Route[],
  hidden: HiddenEntry[],
): readonly Entry<Prompt>[] {
  const placeIn = places()
  const listed = named('prompt', routes, hidden, ({ name, upstream }) => ({
    name,
    prefix: upstream.options.prefix,
    tools: upstream.lists.prompts,
  }))
  return listed.map(({ route, tool, exposedName }) => {
    const shown = { ...tool, name: exposedName }
    return { route, name: tool.name, shown, place: placeIn(route) }
  })
}

/** The same for resources, of which callers see the addresses that their servers gave them. */
export function resourceEntries(
  routes: readonly Route[],
  hidden: HiddenEntry[],
): readonly ResourceEntry[] {
  return firstOf(
    routes,
    hidden,
    ({ resources }) => resources,
    ({ uri }) => uri,
  )
}

/** The same for families of resources. */
export function templateEntries(
  routes: readonly Route[],
  hidden: HiddenEntry[],
): readonly TemplateEntry[] {
  const listed = firstOf(
    routes,
    hidden,
    ({ templates }) => templates,
    ({ uriTemplate }) => uriTemplate,
  )
  return listed.map(entry => ({ ...entry, template: parsed(entry.shown.uriTemplate) }))
}

/** Gives the entries of one list their places, in the order in which it is asked for them. */
function places(): (route: Route) => number {
  let place = 0
  let latest: Route | undefined
  return route => {
    place = route === latest ? place + 1 : route.rank * placesPerServer
    latest = route
    return place
  }
}

/** What is called by name, under the names that callers see. */
function named<T extends { readonly name: string }>(
  what: 'tool' | 'prompt',
  routes: readonly Route[],
  hidden: HiddenEntry[],
  offered: (route: Route) => Exposing<T>,
): readonly { readonly route: Route; readonly tool: T; readonly exposedName: string }[] {
  const byName = new Map(routes.map(route => [route.name, route]))
  const all = exposeTools(routes.map(offered))
  for (const { server, tool, why } of all.hidden) {
    hidden.push({ server, what, name: tool.name, why })
  }
  return all.entries.flatMap(({ exposedName, server, tool }) => {
    const route = byName.get(server)
    return route === undefined ? [] : [{ route, tool, exposedName }]
  })
}

/** What is read by its address: it is of the first server that lists it, and hidden of all others. */
function firstOf<T>(
  routes: readonly Route[],
  hidden: HiddenEntry[],
  listOf: (lists: Lists) => readonly T[],
  addressOf: (shown: T) => string,
): readonly { readonly route: Route; readonly shown: T; readonly place: number }[] {
  const placeIn = places()
  const found = new Map<
    string,
    { readonly route: Route; readonly shown: T; readonly place: number }
  >()
  for (const route of routes) {
    for (const shown of listOf(route.upstream.lists)) {
      const name = addressOf(shown)
      const holder = found.get(name)
      if (holder === undefined) found.set(name, { route, shown, place: placeIn(route) })
      else if (holder.route !== route) {
        const why = `it is one of "${holder.route.name}" already`
        hidden.push({ server: route.name, what: 'resource', name, why })
      }
    }
  }
  return [...found.values()]
}

function toolEntry(route: Route, tool: Tool, name: string): Omit<ToolEntry, 'place'> {
  const describe = route.upstream.options.tools?.describe
  const words = describe !== undefined && Object.hasOwn(describe, tool.name)
  const shown: Tool = {
    ...tool,
    name,
    ...(words && { description: describe[tool.name] }),
  }
  const server = route.upstream.ready?.first?.server
  const isServersChoice = server?.revision.features.tasks === 'extension'
  const offersTasks =
    isServersChoice && server.capabilities.extensions?.[tasksExtension] !== undefined
  const support = tool.execution?.taskSupport
  const task = isServersChoice ? (offersTasks ? 'optional' : 'forbidden') : (support ?? 'forbidden')
  const believed = believedOf(route, tool)
  const mirrored = mirroredOf(tool)
  return { route, name: tool.name, shown, task, isServersChoice, believed, mirrored }
}

/** A tool that lies about itself would do its harm twice: others are not taken at their word. */
function believedOf({ upstream }: Route, tool: Tool): ToolAnnotations | undefined {
  const { retry, trustAnnotations } = upstream.options
  if (retry?.tools !== undefined && matcher(retry.tools)(tool.name)) return repeatable
  return trustAnnotations === true ? tool.annotations : undefined
}

const repeatable: ToolAnnotations = { idempotentHint: true }

function mirroredOf({ inputSchema }: Tool): MirroredArguments | undefined {
  const annotations = headerAnnotations(inputSchema)
  // Of annotations that break the rules nobody can be held to any.
  return annotations.ok && annotations.headers.size > 0 ? annotations.headers : undefined
}

/** Why a tool is not to be called: it is not the one that it was. */
function blocked(route: Route, tool: Tool, pins: Pins | undefined): string | undefined {
  const { options, allLists } = route.upstream
  if (options.tools?.pin !== 'block' || pins === undefined) return undefined
  const why = pins.whyBlocked(route.name, tool)
  if (why !== undefined) return why
  // A call may go to any instance: what only one of them says otherwise counts too.
  for (const { tools } of allLists.values()) {
    const other = tools.find(({ name }) => name === tool.name)
    const whyOther = other && other !== tool ? pins.whyBlocked(route.name, other) : undefined
    if (whyOther !== undefined) return whyOther
  }
  return undefined
}

function parsed(uriTemplate: string): UriTemplate | undefined {
  try {
    return parseTemplate(uriTemplate)
  } catch {
    return undefined
  }
}
