import { skillResource } from '../../../mcp/skills/digest.ts'
import { hasFrontmatter, writeFrontmatter } from '../../../mcp/skills/frontmatter.ts'
import { filePathProblem, fileUri, skillFile, skillName } from '../../../mcp/skills/uri.ts'
import type { Members } from '../../../mcp/types/base.ts'
import type { Skill, SkillFrontmatter } from '../../../mcp/types/skills.ts'
import { limits } from '../../../util/limits/limits.ts'
import { isRecord } from '../../../util/objects.ts'
import type { OptionTableOf } from '../../../util/options.ts'
import type { Context } from '../../context.ts'

/** The definition of a skill, besides its name and its instructions. */
export interface SkillDefinition {
  /** What the skill does and when to use it, for the model. */
  readonly description: string
  /** Further fields of the frontmatter of `SKILL.md`, such as `license` and `metadata`. */
  readonly frontmatter?: Members
  /** Supporting files by their paths in the folder of the skill, such as `references/forms.md`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
}

/** The members of a skill definition, for validation. */
export const skillTable: OptionTableOf<SkillDefinition> = {
  description: 'string',
  frontmatter: 'object',
  files: 'object',
}

/** The instructions of a skill in Markdown, or a function that returns them for every read. */
export type SkillContent = string | ((context: Context) => string | Promise<string>)

/** A file of a skill, to be served as a resource. */
export interface SkillFile {
  readonly uri: string
  readonly name: string
  readonly description?: string
  readonly mimeType: string
  /** Undefined for a file that is made for every read. */
  readonly size: number | undefined
  read(context: Context): unknown
}

/** A skill with its files, made of its definition. */
export interface SkillEntry {
  readonly files: readonly SkillFile[]
  /** Returns the entry that clients get. Its digests are computed once. */
  skill(): Promise<Skill>
}

/** Makes the entry of a skill under the URI of its folder. Throws a TypeError for an invalid definition. */
export function skillEntry(
  root: string,
  definition: SkillDefinition,
  instructions: SkillContent,
): SkillEntry {
  const frontmatter = frontmatterOf(skillName(root), definition)
  const head = `${writeFrontmatter(frontmatter)}\n`
  const main = `${root}/${skillFile}`
  const contents = new Map<string, Uint8Array<ArrayBuffer>>()
  if (typeof instructions === 'string') contents.set(main, encoder.encode(head + instructions))
  const files: SkillFile[] = [
    {
      uri: main,
      name: frontmatter.name,
      description: frontmatter.description,
      mimeType: 'text/markdown',
      size: contents.get(main)?.length,
      read:
        typeof instructions === 'string'
          ? () => head + instructions
          : async context => head + String(await instructions(context)),
    },
  ]
  for (const [path, content] of Object.entries(definition.files ?? {})) {
    const problem = filePathProblem(path)
    if (problem !== undefined) throw new TypeError(problem)
    if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
      throw new TypeError(`the file "${path}" must be a string or a Uint8Array`)
    }
    const uri = fileUri(root, path)
    // A copy, because the digest must stay that of the contents.
    const bytes = typeof content === 'string' ? encoder.encode(content) : new Uint8Array(content)
    contents.set(uri, bytes)
    files.push({
      uri,
      name: path.slice(path.lastIndexOf('/') + 1),
      mimeType: mediaTypeOf(path, content),
      size: bytes.length,
      read: () => (typeof content === 'string' ? content : bytes),
    })
  }
  checkSize(files)
  let made: Promise<Skill> | undefined
  return {
    files,
    skill: () => {
      made ??= describe(main, frontmatter, typeof instructions === 'string' ? contents : undefined)
      return made
    },
  }
}

async function describe(
  uri: string,
  frontmatter: SkillFrontmatter,
  contents: ReadonlyMap<string, Uint8Array<ArrayBuffer>> | undefined,
): Promise<Skill> {
  if (contents === undefined) return { uri, frontmatter, resources: 'dynamic' }
  const resources = Array.from(contents, ([file, bytes]) => skillResource(file, bytes))
  return { uri, frontmatter, resources: await Promise.all(resources) }
}

/** Whether instructions are a whole `SKILL.md`, whose frontmatter would be repeated. */
export function isWholeFile(instructions: SkillContent): boolean {
  return (
    typeof instructions === 'string' && hasFrontmatter(instructions) && /^name:/m.test(instructions)
  )
}

function frontmatterOf(name: string, definition: SkillDefinition): SkillFrontmatter {
  const { description, frontmatter = {} } = definition
  const max = limits.skillDescription.default
  if (typeof description !== 'string' || description.trim() === '' || description.length > max) {
    throw new TypeError(`the description must have 1 to ${max} characters`)
  }
  for (const key of ['name', 'description']) {
    if (Object.hasOwn(frontmatter, key)) {
      throw new TypeError(`"${key}" is not among the further fields of the frontmatter`)
    }
  }
  // As clients get it: without functions and members that are undefined.
  const others: Members = JSON.parse(JSON.stringify(frontmatter))
  const { metadata } = others
  const reserved = Object.keys(isRecord(metadata) ? metadata : {}).find(key =>
    key.startsWith('io.modelcontextprotocol/'),
  )
  if (reserved !== undefined) throw new TypeError(`the metadata key "${reserved}" is reserved`)
  const fields = { name, description, ...others }
  if (writeFrontmatter(fields).length > limits.frontmatterLength.default) {
    throw new TypeError(
      `the frontmatter has more than ${limits.frontmatterLength.default} characters`,
    )
  }
  return fields
}

function checkSize(files: readonly SkillFile[]): void {
  const maxFiles = limits.skillFiles.default
  if (files.length > maxFiles) {
    throw new TypeError(`a skill must have at most ${maxFiles} files (got ${files.length})`)
  }
  const maxBytes = limits.skillBytes.default
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0)
  if (bytes > maxBytes) {
    throw new TypeError(`the files of a skill must have at most ${maxBytes} bytes (got ${bytes})`)
  }
}

function mediaTypeOf(path: string, content: string | Uint8Array): string {
  const [, extension = ''] = /\.(\w+)$/.exec(path) ?? []
  const known = mediaTypes.get(extension.toLowerCase())
  return known ?? (typeof content === 'string' ? 'text/plain' : 'application/octet-stream')
}

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['md', 'text/markdown'],
  ['json', 'application/json'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
  ['html', 'text/html'],
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['js', 'text/javascript'],
  ['py', 'text/x-python'],
  ['sh', 'application/x-sh'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['pdf', 'application/pdf'],
])

const encoder = new TextEncoder()
