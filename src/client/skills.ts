import { skillsExtension, skillsSettings } from '../mcp/extension.ts'
import { skillResource } from '../mcp/skills/digest.ts'
import { parseSkillText } from '../mcp/skills/frontmatter.ts'
import { decoded, resolveReference, skillFile, skillName, skillRoot } from '../mcp/skills/uri.ts'
import type { Skill, SkillFrontmatter, SkillResource } from '../mcp/types/skills.ts'
import { isRecord } from '../util/objects.ts'
import type { ServerDescription } from './connection/negotiate.ts'
import { invalidResponse, refused } from './errors.ts'
import type { RequestOptions } from './requests/request-run.ts'
import type { ResourceAnswer, ResultOf } from './results.ts'

/** A skill whose `SKILL.md` has been read and compared with its entry. */
export interface LoadedSkill {
  /** The entry that its files are compared with. */
  readonly entry: Skill
  /** The name of the skill, from its frontmatter. */
  readonly name: string
  /** When to use the skill, from its frontmatter. */
  readonly description: string
  /** The text of its `SKILL.md` after the frontmatter. */
  readonly instructions: string
  /**
   * Reads a file by its path in the folder of the skill, or by its URI. Rejects with a ChannelError
   * `'framing'` for a file that is not in the entry, or whose content differs from it.
   */
  read(path: string, options?: RequestOptions): Promise<ResourceAnswer>
}

/** What loading needs of a client. */
interface SkillReader {
  read(uri: string, options?: RequestOptions): Promise<ResourceAnswer>
  request<const M extends string>(
    method: M,
    params?: object,
    options?: RequestOptions,
  ): Promise<ResultOf<M>>
}

/** Throws a ChannelError `'refused'` if the server has not declared a method of the skills extension. */
export function checkSkillsDeclared({ capabilities }: ServerDescription, method: string): void {
  const settings = skillsSettings(capabilities)
  if (settings === undefined) throw refused(method, `the server did not declare ${skillsExtension}`)
  if (method === 'resources/directory/read' && settings.directoryRead !== true) {
    throw refused(method, 'the server did not declare directoryRead')
  }
}

/** Loads a skill by its URI or its entry. */
export async function loadSkill(
  client: SkillReader,
  skill: string | Skill,
  options?: RequestOptions,
): Promise<LoadedSkill> {
  const entry = checkedEntry(
    typeof skill === 'string'
      ? (await client.request('skills/get', { uri: skill }, options))?.skill
      : skill,
  )
  const { uri, frontmatter, root, files } = entry
  if (typeof skill === 'string' && uri !== skill) {
    throw invalidResponse('skills/get', `the skill has another URI, ${uri}`)
  }
  const read = async (path: string, how?: RequestOptions): Promise<ResourceAnswer> => {
    const file = resolveReference(root, path)
    if (file === undefined) throw mismatch(path, 'it is not in the folder of the skill')
    const expected = files?.get(decoded(file))
    if (files !== undefined && expected === undefined) {
      throw mismatch(file, 'the skill has no such file')
    }
    // Not from the cache: the entry may be newer.
    const answer = await client.read(expected?.uri ?? file, { ...how, fresh: true })
    await verify(file, answer, expected)
    return answer
  }
  const { text } = await read(skillFile, options)
  const parsed = await parseSkillText(text).catch((error: Error) => {
    throw mismatch(uri, error.message)
  })
  if (!isSame(parsed.frontmatter, frontmatter)) {
    throw mismatch(uri, 'its frontmatter differs from the entry of the skill')
  }
  const { name, description } = frontmatter
  const { instructions } = parsed
  return { entry: entry.skill, name, description, instructions, read }
}

interface CheckedEntry {
  readonly skill: Skill
  readonly uri: string
  /** The URI of its folder. */
  readonly root: string
  readonly frontmatter: SkillFrontmatter
  /** Its files by their decoded URIs; undefined for a skill that is dynamic. */
  readonly files: ReadonlyMap<string, SkillResource> | undefined
}

function checkedEntry(skill: unknown): CheckedEntry {
  const invalid = (why: string) => invalidResponse('skills/get', `not a valid skill: ${why}`)
  if (!isRecord(skill)) throw invalid('it is not an object')
  const { uri, frontmatter, resources } = skill
  const root = typeof uri === 'string' ? skillRoot(uri) : undefined
  if (typeof uri !== 'string' || root === undefined) throw invalid(`its URI names no ${skillFile}`)
  if (!isRecord(frontmatter) || frontmatter.name !== skillName(root)) {
    throw invalid('its folder does not have its name')
  }
  if (resources !== 'dynamic' && !Array.isArray(resources)) {
    throw invalid('its resources are neither a list nor "dynamic"')
  }
  const files = resources === 'dynamic' ? undefined : new Map<string, SkillResource>()
  for (const file of resources === 'dynamic' ? [] : resources) {
    if (
      !isSkillResource(file) ||
      !file.uri.startsWith(`${root}/`) ||
      files?.has(decoded(file.uri))
    ) {
      throw invalid('one of its resources is not a file of it with a digest and a size')
    }
    files?.set(decoded(file.uri), file)
  }
  if (files !== undefined && !files.has(decoded(uri)))
    throw invalid(`its resources lack ${skillFile}`)
  // The check: every member was checked above, but the description, which is compared with the file.
  return {
    skill: skill as unknown as Skill,
    uri,
    root,
    frontmatter: frontmatter as SkillFrontmatter,
    files,
  }
}

function isSkillResource(value: unknown): value is SkillResource {
  if (!isRecord(value)) return false
  const { uri, digest, size } = value
  return typeof uri === 'string' && typeof digest === 'string' && typeof size === 'number'
}

async function verify(
  uri: string,
  { contents }: ResourceAnswer,
  expected: SkillResource | undefined,
): Promise<void> {
  const [content] = contents
  const bytes = contents.length === 1 ? bytesOf(content) : undefined
  if (bytes === undefined) throw mismatch(uri, 'it is not one file')
  if (expected === undefined) return
  if (bytes.length !== expected.size) {
    throw mismatch(uri, `it has ${bytes.length} bytes, not ${expected.size}`)
  }
  const { digest } = await skillResource(uri, bytes)
  if (digest !== expected.digest) throw mismatch(uri, 'its digest differs')
}

/** The bytes of a content; undefined if it is neither text nor Base64. */
function bytesOf(content: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (!isRecord(content)) return undefined
  if (typeof content.text === 'string') return new TextEncoder().encode(content.text)
  if (typeof content.blob !== 'string') return undefined
  try {
    return Uint8Array.from(atob(content.blob), character => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Whether two values are equal as JSON, whatever the order of members. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]))
  }
  if (!isRecord(one) || !isRecord(other)) return one === other
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every(key => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  )
}

function mismatch(uri: string, why: string): Error {
  return invalidResponse('resources/read', `${uri}: ${why}`)
}
