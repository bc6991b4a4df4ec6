import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Route } from '../dispatch/route.ts'
import type { Pins } from '../pins/pins.ts'
import {
  type CatalogEntry,
  type HiddenEntry,
  type ListedSkill,
  type ListsOf,
  promptEntries,
  type ResourceEntry,
  resourceEntries,
  skillEntries,
  type TemplateEntry,
  type ToolEntry,
  templateEntries,
  toolEntries,
} from './entries.ts'

/** The entries of a catalog, each list in the order of the servers and of their lists. */
interface Entries {
  readonly tools: readonly ToolEntry[]
  readonly prompts: readonly CatalogEntry<Prompt>[]
  readonly resources: readonly ResourceEntry[]
  readonly templates: readonly TemplateEntry[]
  readonly skills: readonly ListedSkill[]
  readonly hidden: readonly HiddenEntry[]
}

interface Routed {
  readonly route: Route
}

/** Selects a part of a catalog. */
export interface CatalogFilter {
  /** Whether the part has the entries of a server. */
  hasServer(name: string): boolean
  /** Whether the part has a tool of such a server. */
  hasTool(tool: ToolEntry): boolean
  /** Whether the part has a prompt of such a server. By default it has all. */
  hasPrompt?(prompt: CatalogEntry<Prompt>): boolean
  /** Whether the part has a resource, template or skill of such a server, by its URI. By default it has all. */
  hasResource?(uri: string, server: string): boolean
}

/**
 * Merges what all upstream servers list. On a name conflict the entry of the earlier server wins and the
 * other is hidden. `listsOf` returns the lists of a server; by default those that all callers share.
 */
export function mergedCatalog(
  routes: readonly Route[],
  pins?: Pins,
  listsOf: ListsOf = ({ upstream }) => upstream.lists,
): Catalog {
  const hidden: HiddenEntry[] = []
  const tools = toolEntries(routes, pins, hidden, listsOf)
  const prompts = promptEntries(routes, hidden, listsOf)
  const resources = resourceEntries(routes, hidden, listsOf)
  const templates = templateEntries(routes, hidden, listsOf)
  const byUri = new Map(resources.map(entry => [entry.shown.uri, entry]))
  const skills = skillEntries(routes, byUri, hidden)
  return new Catalog({ tools, prompts, resources, templates, skills, hidden })
}

/** The merged tools, prompts, resources and skills of upstream servers, as callers see them. */
export class Catalog implements Entries {
  readonly tools: readonly ToolEntry[]
  readonly prompts: readonly CatalogEntry<Prompt>[]
  readonly resources: readonly ResourceEntry[]
  readonly templates: readonly TemplateEntry[]
  readonly skills: readonly ListedSkill[]
  readonly hidden: readonly HiddenEntry[]
  readonly #tools: ReadonlyMap<string, ToolEntry>
  readonly #prompts: ReadonlyMap<string, CatalogEntry<Prompt>>
  readonly #resources: ReadonlyMap<string, ResourceEntry>

  constructor({ tools, prompts, resources, templates, skills, hidden }: Entries) {
    this.tools = tools
    this.prompts = prompts
    this.resources = resources
    this.templates = templates
    this.skills = skills
    this.hidden = hidden
    this.#tools = new Map(tools.map(entry => [entry.shown.name, entry]))
    this.#prompts = new Map(prompts.map(entry => [entry.shown.name, entry]))
    this.#resources = new Map(resources.map(entry => [entry.shown.uri, entry]))
  }

  /** Returns the part that a filter selects. Names are the same as in the whole. */
  only(filter: CatalogFilter): Catalog {
    const isIn = ({ route }: Routed): boolean => filter.hasServer(route.name)
    const hasUri = (entry: Routed, uri: string): boolean =>
      isIn(entry) && filter.hasResource?.(uri, entry.route.name) !== false
    return new Catalog({
      tools: this.tools.filter(entry => isIn(entry) && filter.hasTool(entry)),
      prompts: this.prompts.filter(entry => isIn(entry) && filter.hasPrompt?.(entry) !== false),
      resources: this.resources.filter(entry => hasUri(entry, entry.shown.uri)),
      templates: this.templates.filter(entry => hasUri(entry, entry.shown.uriTemplate)),
      skills: this.skills.filter(entry => hasUri(entry, entry.shown.uri)),
      hidden: this.hidden.filter(({ server }) => filter.hasServer(server)),
    })
  }

  /** Returns the tool with this exposed name. */
  tool(name: string): ToolEntry | undefined {
    return this.#tools.get(name)
  }

  /** Returns the prompt with this exposed name. */
  prompt(name: string): CatalogEntry<Prompt> | undefined {
    return this.#prompts.get(name)
  }

  /**
   * Returns the server that lists a resource, or else the one with a skill that it is a file of, or else
   * the first with a template that matches its URI.
   */
  ownerOf(uri: string): Route | undefined {
    const listed = this.#resources.get(uri)
    if (listed !== undefined) return listed.route
    const skill = this.skillAt(uri)
    if (skill !== undefined) return skill.route
    return this.templates.find(({ template }) => template?.match(uri) !== undefined)?.route
  }

  /** Returns the skill whose folder has this URI, or contains it. */
  skillAt(uri: string): ListedSkill | undefined {
    return this.skills.find(({ root }) => uri === root || uri.startsWith(`${root}/`))
  }

  /** Returns the server that lists this resource template. */
  templateOwner(uriTemplate: string): Route | undefined {
    return this.templates.find(({ shown }) => shown.uriTemplate === uriTemplate)?.route
  }
}
