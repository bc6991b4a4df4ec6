import { tasksExtension } from '../mcp/extension.ts'
import { headerAnnotations } from '../mcp/header-annotations.ts'
import type { MirroredArguments } from '../mcp/mirrored-arguments.ts'
import type { Prompt } from '../mcp/types/prompts.ts'
import type { Resource, ResourceTemplate } from '../mcp/types/resources.ts'
import type { Tool, ToolAnnotations } from '../mcp/types/tools.ts'
import { parseTemplate, type UriTemplate } from '../mcp/uri-template.ts'
import { exposeTools } from './names.ts'
import { matcher } from './patterns.ts'
import type { Pins } from './pins.ts'
import type { Route } from './route.ts'

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

export interface ResourceEntry {
  readonly route: Route
  readonly shown: Resource
  readonly place: number
}

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

/**
 * Everything that the servers behind a router offer, as callers see it: in the order of the servers and
 * of the lists of each. What would hide something of an earlier server is hidden itself.
 */
export class Catalogue {
  readonly tools: readonly ToolEntry[]
  readonly prompts: readonly Entry<Prompt>[]
  readonly resources: readonly ResourceEntry[]
  readonly templates: readonly TemplateEntry[]
  readonly hidden: readonly HiddenEntry[]
  readonly #tools: ReadonlyMap<string, ToolEntry>
  readonly #prompts: ReadonlyMap<string, Entry<Prompt>>
  readonly #resources: ReadonlyMap<string, ResourceEntry>

  constructor(routes: readonly Route[], pins?: Pins) {
    const hidden: HiddenEntry[] = []
    const byName = new Map(routes.map(route => [route.name, route]))
    const rank = new Map(routes.map((route, index) => [route, index * placesPerServer]))
    const note = (server: string, what: HiddenEntry['what'], name: string, why: string): void => {
      hidden.push({ server, what, name, why })
    }
    let place = 0
    let latest: Route | undefined
    const nextPlace = (route: Route): number => {
      place = route === latest ? place + 1 : (rank.get(route) ?? 0)
      latest = route
      return place
    }

    const tools = exposeTools(
      routes.map(({ name, upstream }) => ({
        name,
        prefix: upstream.options.prefix,
        rules: upstream.options.tools,
        tools: upstream.lists.tools,
      })),
    )
    for (const { server, tool, why } of tools.hidden) note(server, 'tool', tool.name, why)
    this.tools = tools.entries.flatMap(({ exposedName, server, tool }) => {
      const route = byName.get(server)
      if (route === undefined) return []
      const why = blocked(route, tool, pins)
      if (why !== undefined) {
        note(server, 'tool', tool.name, why)
        return []
      }
      return [{ ...toolEntry(route, tool, exposedName), place: nextPlace(route) }]
    })
    this.#tools = new Map(this.tools.map(entry => [entry.shown.name, entry]))

    latest = undefined
    const prompts = exposeTools(
      routes.map(({ name, upstream }) => ({
        name,
        prefix: upstream.options.prefix,
        tools: upstream.lists.prompts,
      })),
    )
    for (const { server, tool, why } of prompts.hidden) note(server, 'prompt', tool.name, why)
    this.prompts = prompts.entries.flatMap(({ exposedName, server, tool }) => {
      const route = byName.get(server)
      if (route === undefined) return []
      const shown = { ...tool, name: exposedName }
      return [{ route, name: tool.name, shown, place: nextPlace(route) }]
    })
    this.#prompts = new Map(this.prompts.map(entry => [entry.shown.name, entry]))

    latest = undefined
    const resources = new Map<string, ResourceEntry>()
    const templates = new Map<string, TemplateEntry>()
    for (const route of routes) {
      for (const shown of route.upstream.lists.resources) {
        const holder = resources.get(shown.uri)
        if (holder === undefined) {
          resources.set(shown.uri, { route, shown, place: nextPlace(route) })
        } else if (holder.route !== route) {
          note(route.name, 'resource', shown.uri, `it is one of "${holder.route.name}" already`)
        }
      }
    }
    latest = undefined
    for (const route of routes) {
      for (const shown of route.upstream.lists.templates) {
        const holder = templates.get(shown.uriTemplate)
        if (holder === undefined) {
          const template = parsed(shown.uriTemplate)
          templates.set(shown.uriTemplate, { route, shown, template, place: nextPlace(route) })
        } else if (holder.route !== route) {
          const why = `it is one of "${holder.route.name}" already`
          note(route.name, 'resource', shown.uriTemplate, why)
        }
      }
    }
    this.resources = [...resources.values()]
    this.templates = [...templates.values()]
    this.#resources = resources
    this.hidden = hidden
  }

  tool(name: string): ToolEntry | undefined {
    return this.#tools.get(name)
  }

  prompt(name: string): Entry<Prompt> | undefined {
    return this.#prompts.get(name)
  }

  /** The server that a resource belongs to: that lists it, or that lists a family it is one of. */
  ownerOf(uri: string): Route | undefined {
    const listed = this.#resources.get(uri)
    if (listed !== undefined) return listed.route
    return this.templates.find(({ template }) => template?.match(uri) !== undefined)?.route
  }

  /** The server that lists a family of resources under this template. */
  templateOwner(uriTemplate: string): Route | undefined {
    return this.templates.find(({ shown }) => shown.uriTemplate === uriTemplate)?.route
  }
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
