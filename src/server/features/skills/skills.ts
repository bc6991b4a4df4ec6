import { invalidParams } from '../../../jsonrpc/error.ts'
import type { Revision } from '../../../mcp/revisions/revisions.ts'
import { skillFile, skillPathProblem } from '../../../mcp/skills/uri.ts'
import type { Resource } from '../../../mcp/types/resources.ts'
import type { Scope } from '../../core/request-scope.ts'
import { type HandlerResult, type IncomingRequest, stringParam, whenReady } from '../../request.ts'
import { checkDefinition } from '../../validate.ts'
import { pageOf } from '../pagination.ts'
import { FeatureSet, type Registration } from '../registry.ts'
import type { ReadResource, ResourceDefinition } from '../resources/definition.ts'
import type { Resources, ResourcesHost } from '../resources/resources.ts'
import {
  isWholeFile,
  type SkillContent,
  type SkillDefinition,
  type SkillEntry,
  skillEntry,
  skillTable,
} from './skill-entry.ts'

/** The files of a skill as resources, by their URIs. Empty once the skill is removed. */
type Published = ReadonlyMap<string, Registration<ResourceDefinition, ReadResource>>

/**
 * The skills of a server. Answers the methods of the skills extension; `Resources` serves the files, and
 * notifies of changes.
 */
export class Skills {
  readonly #host: ResourcesHost
  readonly #resources: Resources
  /** By the URI of `SKILL.md`. */
  readonly #skills = new FeatureSet<SkillDefinition, SkillEntry>('skill', () => {})
  readonly #roots = new Set<string>()

  constructor(host: ResourcesHost, resources: Resources) {
    this.#host = host
    this.#resources = resources
  }

  get isUsed(): boolean {
    return this.#skills.isUsed
  }

  register(
    path: string,
    definition: SkillDefinition,
    instructions: SkillContent,
  ): Registration<SkillDefinition, SkillContent> {
    const what = `skill "${path}"`
    const root = `skill://${path}`
    checkDefinition(what, definition, skillTable)
    checkSkill(what, path, instructions)
    this.#checkNesting(what, root)
    const uri = `${root}/${skillFile}`
    let published: Published = new Map()
    const make = (made: SkillDefinition, current: SkillContent): SkillEntry => {
      checkDefinition(what, made, skillTable)
      checkSkill(what, path, current)
      const entry = described(what, () => skillEntry(root, made, current))
      published = this.#publish(what, entry, published)
      return entry
    }
    const skill = this.#skills.add(uri, path, definition, make, instructions)
    this.#roots.add(root)
    const withFiles = (
      change: (file: Registration<ResourceDefinition, ReadResource>) => void,
    ): void => {
      for (const file of published.values()) change(file)
    }
    const remove = (): void => {
      skill.remove()
      this.#roots.delete(root)
      withFiles(file => file.remove())
      published = new Map()
    }
    return {
      name: path,
      get isEnabled() {
        return skill.isEnabled
      },
      update: (changes, changed) => {
        if (published.size === 0) return
        skill.update(changes, changed)
        if (!skill.isEnabled) withFiles(file => file.disable())
        for (const file of published.keys()) {
          this.#host.subscriptions.publish({ type: 'resource', uri: file })
        }
      },
      enable: () => {
        skill.enable()
        withFiles(file => file.enable())
      },
      disable: () => {
        skill.disable()
        withFiles(file => file.disable())
      },
      remove,
      [Symbol.dispose]: remove,
    }
  }

  /** Shows the skills of a mounted server, whose files are mounted as resources. */
  mount(other: Skills, scope: Scope): () => void {
    return this.#skills.mount(other.#skills, {
      scope,
      keyOf: uri => uri,
      rename: entry => entry,
    })
  }

  list({ params }: IncomingRequest): HandlerResult {
    const { cursors, pageSize } = this.#host
    const set = this.#skills
    const page = pageOf(set.list(), 'skills', params, cursors, pageSize, set.positions())
    return whenReady(page, async ({ items, nextCursor }) => ({
      skills: await Promise.all(items.map(entry => entry.skill())),
      nextCursor,
    }))
  }

  get({ params }: IncomingRequest): HandlerResult {
    const uri = stringParam(params, 'uri')
    const entry = this.#skills.get(uri)
    if (entry === undefined) throw noSkill(uri)
    return entry.skill().then(skill => ({ skill }))
  }

  readDirectory({ caller, params }: IncomingRequest): HandlerResult {
    const uri = stringParam(params, 'uri')
    const children = this.#children(uri, caller.revision)
    if (children.length === 0) throw noDirectory(uri)
    const { cursors, pageSize } = this.#host
    const page = pageOf(children, `directory ${uri}`, params, cursors, pageSize)
    return whenReady(page, ({ items, nextCursor }) => ({ resources: items, nextCursor }))
  }

  /** The files and folders directly in a folder, each once; none for anything but a folder. */
  #children(folder: string, revision: Revision): readonly Resource[] {
    // The scheme alone, `skill:/`, is not a folder.
    if (!folder.startsWith('skill://')) return []
    const children = new Map<string, Resource>()
    for (const { uri } of this.#skills.list().flatMap(({ files }) => files)) {
      if (!uri.startsWith(`${folder}/`)) continue
      const end = uri.indexOf('/', folder.length + 1)
      const child = end === -1 ? uri : uri.slice(0, end)
      const name = decodeURIComponent(child.slice(folder.length + 1))
      const file = end === -1 ? this.#resources.listed(uri, revision) : undefined
      children.set(child, file ?? { uri: child, name, mimeType: 'inode/directory' })
    }
    return [...children.values()]
  }

  /** Registers the files as resources in place of earlier ones. Throws, and changes nothing, where a URI is taken. */
  #publish(what: string, { files }: SkillEntry, earlier: Published): Published {
    const taken = files.find(({ uri }) => !earlier.has(uri) && this.#resources.has(uri))
    if (taken !== undefined) throw new TypeError(`${what}: duplicate resource "${taken.uri}"`)
    for (const file of earlier.values()) file.remove()
    return new Map(
      files.map(({ uri, name, description, mimeType, size, read }) => {
        const definition = { description, mimeType, size }
        return [uri, this.#resources.register(name, uri, definition, read)]
      }),
    )
  }

  /** The files of a nested skill would also be files of the outer one, and would have to be listed there. */
  #checkNesting(what: string, root: string): void {
    for (const other of this.#roots) {
      if (root.startsWith(`${other}/`) || other.startsWith(`${root}/`)) {
        throw new TypeError(`${what}: one of "${other}" and "${root}" would be nested in the other`)
      }
    }
  }
}

/** Creates the error for a URI that is not that of a skill. */
export function noSkill(uri: string): Error {
  return invalidParams('No skill has this URI', { data: { uri } })
}

/** Creates the error for a URI that is not that of a folder. */
export function noDirectory(uri: string): Error {
  return invalidParams('No folder has this URI', { data: { uri } })
}

function checkSkill(what: string, path: unknown, instructions: unknown): void {
  const problem = typeof path === 'string' ? skillPathProblem(path) : 'its name must be a string'
  if (problem !== undefined) throw new TypeError(`${what}: ${problem}`)
  if (typeof instructions !== 'string' && typeof instructions !== 'function') {
    throw new TypeError(
      `${what}: the instructions, the last argument, must be a string or a function`,
    )
  }
  if (isWholeFile(instructions as SkillContent)) {
    throw new TypeError(
      `${what}: the instructions have frontmatter; parse a whole SKILL.md with parseSkill`,
    )
  }
}

function described<T>(what: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof TypeError ? new TypeError(`${what}: ${error.message}`) : error
  }
}
