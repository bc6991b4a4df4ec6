import { tasksExtension } from '../../mcp/extension.ts'
import { serverKey } from '../../mcp/meta.ts'
import { headerAnnotations } from '../../mcp/param-headers/annotations.ts'
import type { MirroredArguments } from '../../mcp/param-headers/compare.ts'
import { skillRoot } from '../../mcp/skills/uri.ts'
import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import type { Skill } from '../../mcp/types/skills.ts'
import type { Tool, ToolAnnotations } from '../../mcp/types/tools.ts'
import { parseTemplate, type UriTemplate } from '../../mcp/uri-template/template.ts'
import type { Route } from '../dispatch/route.ts'
import type { Pins } from '../pins/pins.ts'
import { matcher } from './glob.ts'
import type { Lists } from './lists.ts'
import { exposeTools, type ServerListing } from './names.ts'

/** A tool or prompt as callers see it, with the route to its server. */
export interface CatalogEntry<T> {
  readonly route: Route
  /** The upstream name. */
  readonly name: string
  /** The definition that callers see. */
  readonly shown: T
  /** Sort key for pagination: increases along the list and stays the same while only other servers change. */
  readonly place: number
}

/** A tool with its task support, its trusted annotations and its mirrored arguments. */
export interface ToolEntry extends CatalogEntry<Tool> {
  readonly task: 'forbidden' | 'optional' | 'required'
  /** Whether the server alone decides which calls become tasks. */
  readonly isServersChoice: boolean
  /** The annotations that the router relies on for retries: from the operator, from a trusted server, or none. */
  readonly trustedAnnotations: ToolAnnotations | undefined
  /** The arguments that HTTP requests mirror as headers; undefined if there are none. */
  readonly mirrored: MirroredArguments | undefined
}

/** A resource with the route to its server. */
export interface ResourceEntry {
  readonly route: Route
  readonly shown: Resource
  readonly place: number
}

/** A resource template with the route to its server. */
export interface TemplateEntry {
  readonly route: Route
  readonly shown: ResourceTemplate
  readonly place: number
  /** The parsed template; undefined for an invalid one, which is listed nevertheless. */
  readonly template: UriTemplate | undefined
}

/** A skill with the route to its server. */
export interface ListedSkill {
  readonly route: Route
  readonly shown: Skill
  readonly place: number
  /** The URI of its folder. */
  readonly root: string
}

/** An entry of an upstream server that callers do not see. */
export interface HiddenEntry {
  /** The name of the server that has the entry. */
  readonly server: string
  /** The kind of entry. */
  readonly what: 'tool' | 'prompt' | 'resource' | 'skill'
  /** The name of the tool or prompt, or the URI of the resource or skill, on that server. */
  readonly name: string
  /** The reason in one line, for the operator. */
  readonly why: string
}

/** Returns the lists of a server: those that all callers share, or those of one caller. */
export type ListsOf = (route: Route) => Lists

/** The number of distinct places that each server has. */
const placesPerServer = 2 ** 20

/** Returns the exposed tools and adds the others to `hidden`. */
export function toolEntries(
  routes: readonly Route[],
  pins: Pins | undefined,
  hidden: HiddenEntry[],
  listsOf: ListsOf,
): readonly ToolEntry[] {
  const placeIn = places()
  const listed = named('tool', routes, hidden, route => ({
    name: route.name,
    prefix: route.upstream.options.prefix,
    rules: route.upstream.options.tools,
    tools: listsOf(route).tools,
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

/** Returns the exposed prompts and adds the others to `hidden`. */
export function promptEntries(
  routes: readonly Route[],
  hidden: HiddenEntry[],
  listsOf: ListsOf,
): readonly CatalogEntry<Prompt>[] {
  const placeIn = places()
  const listed = named('prompt', routes, hidden, route => ({
    name: route.name,
    prefix: route.upstream.options.prefix,
    tools: listsOf(route).prompts,
  }))
  return listed.map(({ route, tool, exposedName }) => {
    const shown = { ...attributed(route, tool), name: exposedName }
    return { route, name: tool.name, shown, place: placeIn(route) }
  })
}

/** Returns the exposed resources, under their upstream URIs, and adds the others to `hidden`. */
export function resourceEntries(
  routes: readonly Route[],
  hidden: HiddenEntry[],
  listsOf: ListsOf,
): readonly ResourceEntry[] {
  return firstOf(
    routes,
    hidden,
    route => listsOf(route).resources,
    ({ uri }) => uri,
  )
}

/** Returns the exposed resource templates and adds the others to `hidden`. */
export function templateEntries(
  routes: readonly Route[],
  hidden: HiddenEntry[],
  listsOf: ListsOf,
): readonly TemplateEntry[] {
  const listed = firstOf(
    routes,
    hidden,
    route => listsOf(route).templates,
    ({ uriTemplate }) => uriTemplate,
  )
  return listed.map(entry => ({ ...entry, template: parsed(entry.shown.uriTemplate) }))
}

/**
 * Returns the exposed skills, under their upstream URIs, and adds the others to `hidden`: also those whose
 * files callers would read from another server.
 */
export function skillEntries(
  routes: readonly Route[],
  resources: ReadonlyMap<string, ResourceEntry>,
  hidden: HiddenEntry[],
): readonly ListedSkill[] {
  const listed = firstOf(
    routes,
    hidden,
    ({ upstream }) => upstream.lists.skills,
    ({ uri }) => uri,
    'skill',
  )
  return listed.flatMap(entry => {
    const { uri } = entry.shown
    const holder = resources.get(uri)?.route ?? entry.route
    if (holder === entry.route) return [{ ...entry, root: skillRoot(uri) ?? uri }]
    const why = `its file is already provided by server "${holder.name}"`
    hidden.push({ server: entry.route.name, what: 'skill', name: uri, why })
    return []
  })
}

/** Returns a function that assigns places to the entries of one list; call it in list order. */
function places(): (route: Route) => number {
  let place = 0
  let latest: Route | undefined
  return route => {
    place = route === latest ? place + 1 : route.rank * placesPerServer
    latest = route
    return place
  }
}

/** Assigns exposed names to tools or prompts. */
function named<T extends { readonly name: string }>(
  what: 'tool' | 'prompt',
  routes: readonly Route[],
  hidden: HiddenEntry[],
  listingOf: (route: Route) => ServerListing<T>,
): readonly { readonly route: Route; readonly tool: T; readonly exposedName: string }[] {
  const byName = new Map(routes.map(route => [route.name, route]))
  const all = exposeTools(routes.map(listingOf))
  for (const { server, tool, why } of all.hidden) {
    hidden.push({ server, what, name: tool.name, why })
  }
  return all.entries.flatMap(({ exposedName, server, tool }) => {
    const route = byName.get(server)
    return route === undefined ? [] : [{ route, tool, exposedName }]
  })
}

/** Merges entries that are identified by URI: the first server that lists a URI wins, the others are hidden. */
function firstOf<T>(
  routes: readonly Route[],
  hidden: HiddenEntry[],
  listOf: (route: Route) => readonly T[],
  uriOf: (shown: T) => string,
  what: 'resource' | 'skill' = 'resource',
): readonly { readonly route: Route; readonly shown: T; readonly place: number }[] {
  const placeIn = places()
  const found = new Map<
    string,
    { readonly route: Route; readonly shown: T; readonly place: number }
  >()
  for (const route of routes) {
    for (const shown of listOf(route)) {
      const name = uriOf(shown)
      const holder = found.get(name)
      if (holder === undefined) found.set(name, { route, shown, place: placeIn(route) })
      else if (holder.route !== route) {
        const why = `already provided by server "${holder.route.name}"`
        hidden.push({ server: route.name, what, name, why })
      }
    }
  }
  return [...found.values()]
}

/**
 * Returns a definition with the name of its server in its metadata, which no server can choose itself. Tools and
 * prompts need it, because callers see them under other names. Resources keep their URIs.
 */
function attributed<T extends { readonly _meta?: Readonly<Record<string, unknown>> }>(
  { name }: Route,
  definition: T,
): T {
  return { ...definition, _meta: { ...definition._meta, [serverKey]: name } }
}

function toolEntry(route: Route, tool: Tool, name: string): Omit<ToolEntry, 'place'> {
  const describe = route.upstream.options.tools?.describe
  const isDescribed = describe !== undefined && Object.hasOwn(describe, tool.name)
  const { server } = route.upstream
  const isServersChoice = server?.revision.features.tasks === 'extension'
  const offersTasks =
    isServersChoice && server.capabilities.extensions?.[tasksExtension] !== undefined
  const support = tool.execution?.taskSupport
  const task = isServersChoice ? (offersTasks ? 'optional' : 'forbidden') : (support ?? 'forbidden')
  const shown: Tool = {
    ...attributed(route, tool),
    name,
    // Many clients reject a whole list because of one schema without a type.
    ...(tool.inputSchema.type === undefined && {
      inputSchema: { ...tool.inputSchema, type: 'object' as const },
    }),
    ...(isDescribed && { description: describe[tool.name] }),
    // Callers of revisions with this member take a tool without it for one that cannot be a task.
    ...(task !== (support ?? 'forbidden') && {
      execution: { ...tool.execution, taskSupport: task },
    }),
  }
  const trustedAnnotations = trustedAnnotationsOf(route, tool)
  const mirrored = mirroredOf(tool)
  return { route, name: tool.name, shown, task, isServersChoice, trustedAnnotations, mirrored }
}

/**
 * Ignores the annotations of untrusted servers, because retrying a falsely annotated tool would repeat its
 * effects.
 */
function trustedAnnotationsOf({ upstream }: Route, tool: Tool): ToolAnnotations | undefined {
  const { retry, trustAnnotations } = upstream.options
  if (retry?.tools !== undefined && matcher(retry.tools)(tool.name)) return repeatable
  return trustAnnotations === true ? tool.annotations : undefined
}

const repeatable: ToolAnnotations = { idempotentHint: true }

function mirroredOf({ inputSchema }: Tool): MirroredArguments | undefined {
  const annotations = headerAnnotations(inputSchema)
  // Invalid annotations oblige no caller to send any of the headers.
  return annotations.ok && annotations.headers.size > 0 ? annotations.headers : undefined
}

/** Returns why pinning blocks a tool; undefined for a tool that matches its pin. */
function blocked(route: Route, tool: Tool, pins: Pins | undefined): string | undefined {
  const { options, allLists } = route.upstream
  if (options.tools?.pin !== 'block' || pins === undefined) return undefined
  const why = pins.whyBlocked(route.name, tool)
  if (why !== undefined) return why
  // A call may go to any instance, so a changed definition on one of them blocks the tool.
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
