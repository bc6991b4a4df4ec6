import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Route } from '../dispatch/route.ts'
import type { Pins } from '../pins/pins.ts'
import {
  type Entry,
  type HiddenEntry,
  promptEntries,
  type ResourceEntry,
  resourceEntries,
  type TemplateEntry,
  type ToolEntry,
  templateEntries,
  toolEntries,
} from './entries.ts'

/**
 * The merged tools, prompts and resources of all upstream servers, as callers see them. Entries keep the
 * order of the servers and of their lists. On a name conflict the entry of the earlier server wins and
 * the other is hidden.
 */
export class Catalog {
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
    this.tools = toolEntries(routes, pins, hidden)
    this.prompts = promptEntries(routes, hidden)
    this.resources = resourceEntries(routes, hidden)
    this.templates = templateEntries(routes, hidden)
    this.hidden = hidden
    this.#tools = new Map(this.tools.map(entry => [entry.shown.name, entry]))
    this.#prompts = new Map(this.prompts.map(entry => [entry.shown.name, entry]))
    this.#resources = new Map(this.resources.map(entry => [entry.shown.uri, entry]))
  }

  /** Returns the tool with this exposed name. */
  tool(name: string): ToolEntry | undefined {
    return this.#tools.get(name)
  }

  /** Returns the prompt with this exposed name. */
  prompt(name: string): Entry<Prompt> | undefined {
    return this.#prompts.get(name)
  }

  /** Returns the server that lists a resource, or else the first with a template that matches its URI. */
  ownerOf(uri: string): Route | undefined {
    const listed = this.#resources.get(uri)
    if (listed !== undefined) return listed.route
    return this.templates.find(({ template }) => template?.match(uri) !== undefined)?.route
  }

  /** Returns the server that lists this resource template. */
  templateOwner(uriTemplate: string): Route | undefined {
    return this.templates.find(({ shown }) => shown.uriTemplate === uriTemplate)?.route
  }
}
