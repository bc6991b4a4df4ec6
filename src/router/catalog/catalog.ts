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

/**
 * The merged tools, prompts, resources and skills of all upstream servers, as callers see them. Entries keep the
 * order of the servers and of their lists. On a name conflict the entry of the earlier server wins and
 * the other is hidden.
 */
export class Catalog {
  readonly tools: readonly ToolEntry[]
  readonly prompts: readonly CatalogEntry<Prompt>[]
  readonly resources: readonly ResourceEntry[]
  readonly templates: readonly TemplateEntry[]
  readonly skills: readonly ListedSkill[]
  readonly hidden: readonly HiddenEntry[]
  readonly #tools: ReadonlyMap<string, ToolEntry>
  readonly #prompts: ReadonlyMap<string, CatalogEntry<Prompt>>
  readonly #resources: ReadonlyMap<string, ResourceEntry>

  /** `listsOf` returns the lists of a server; by default those that all callers share. */
  constructor(
    routes: readonly Route[],
    pins?: Pins,
    listsOf: ListsOf = ({ upstream }) => upstream.lists,
  ) {
    const hidden: HiddenEntry[] = []
    this.tools = toolEntries(routes, pins, hidden, listsOf)
    this.prompts = promptEntries(routes, hidden, listsOf)
    this.resources = resourceEntries(routes, hidden, listsOf)
    this.templates = templateEntries(routes, hidden, listsOf)
    this.#resources = new Map(this.resources.map(entry => [entry.shown.uri, entry]))
    this.skills = skillEntries(routes, this.#resources, hidden)
    for (const { name: server, upstream } of routes) {
      for (const entry of upstream.invalidEntries) hidden.push({ server, ...entry })
    }
    this.hidden = hidden
    this.#tools = new Map(this.tools.map(entry => [entry.shown.name, entry]))
    this.#prompts = new Map(this.prompts.map(entry => [entry.shown.name, entry]))
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
