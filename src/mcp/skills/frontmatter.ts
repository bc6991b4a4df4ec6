import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import type { Members } from '../types/base.ts'
import type { SkillFrontmatter } from '../types/skills.ts'

/** A `SKILL.md` in its two parts. */
export interface SkillText {
  readonly frontmatter: SkillFrontmatter
  /** What follows the frontmatter. */
  readonly instructions: string
}

/** Writes the head of a `SKILL.md`: one line per field, with a value in JSON, which YAML includes. */
export function writeFrontmatter(fields: Members): string {
  const lines = Object.entries(fields).map(([key, value]) => {
    const name = plainKey.test(key) ? key : JSON.stringify(key)
    return `${name}: ${JSON.stringify(value)}\n`
  })
  return `---\n${lines.join('')}---\n`
}

/** Keys that no YAML parser takes for anything but a string. */
const plainKey = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z][a-z-]*$/

/** Whether a text begins with frontmatter. */
export function hasFrontmatter(text: string): boolean {
  return head.test(text)
}

const head = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/

/**
 * Parses a `SKILL.md`. Rejects with a TypeError if it does not begin with YAML frontmatter that is an
 * object with a name and a description.
 */
export async function parseSkillText(text: string): Promise<SkillText> {
  const found = head.exec(text)
  if (found === null) throw new TypeError('the text does not begin with frontmatter')
  const [all, yaml = ''] = found
  if (yaml.length > limits.frontmatterLength.default) {
    throw new TypeError(
      `the frontmatter has more than ${limits.frontmatterLength.default} characters`,
    )
  }
  const fields = await parseYaml(yaml)
  if (!isRecord(fields)) throw new TypeError('the frontmatter is not an object')
  const { name, description } = fields
  if (typeof name !== 'string' || typeof description !== 'string') {
    throw new TypeError('the frontmatter has no name or no description')
  }
  return { frontmatter: { ...fields, name, description }, instructions: text.slice(all.length) }
}

async function parseYaml(text: string): Promise<unknown> {
  const { isHostileYaml, parseDocument } = await import('../../util/yaml.ts')
  if (isHostileYaml(text)) throw new TypeError('the frontmatter is nested too deeply')
  let value: unknown
  try {
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' })
    const [error] = document.errors
    if (error !== undefined) throw error
    value = document.toJS()
  } catch (error) {
    throw new TypeError(`the frontmatter is not valid YAML: ${(error as Error).message}`)
  }
  // As JSON has it: entries of skills are compared with it.
  return JSON.parse(JSON.stringify(value ?? null))
}
