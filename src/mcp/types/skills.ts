import type { CacheHints, Members, PagedResult, Result } from './base.ts'
import type { Resource } from './resources.ts'

/** One file of a skill. */
export interface SkillResource {
  /** The URI of the file. */
  readonly uri: string
  /** The SHA-256 hash of its bytes: `sha256:` and 64 lowercase hexadecimal digits. */
  readonly digest: string
  /** In bytes. */
  readonly size: number
}

/** The fields at the head of a `SKILL.md`, as JSON. */
export interface SkillFrontmatter extends Members {
  /** The name of the skill. */
  readonly name: string
  /** What the skill does and when to use it. */
  readonly description: string
}

/** A skill, as listed by a server. */
export interface Skill {
  /** The URI of its `SKILL.md`. */
  readonly uri: string
  /** All fields of the frontmatter of its `SKILL.md`. */
  readonly frontmatter: SkillFrontmatter
  /** All of its files, `SKILL.md` included; `'dynamic'` if the contents change from one read to the next. */
  readonly resources: readonly SkillResource[] | 'dynamic'
}

/** The result of `skills/list`. */
export interface ListSkillsResult extends PagedResult, CacheHints {
  /** The skills on this page. */
  readonly skills: readonly Skill[]
}

/** The result of `skills/get`. */
export interface GetSkillResult extends Result, CacheHints {
  /** The skill. */
  readonly skill: Skill
}

/** The result of `resources/directory/read`: the direct children of a folder. */
export interface ReadDirectoryResult extends PagedResult {
  /** The files and folders on this page. */
  readonly resources: readonly Resource[]
}
