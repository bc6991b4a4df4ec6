import { parseSkillText } from '../../../mcp/skills/frontmatter.ts'
import type { SkillDefinition } from './skill-entry.ts'

/** A skill as `server.skill` takes it. */
export interface ParsedSkill {
  /** The name of the skill, from its frontmatter. */
  readonly name: string
  /** The definition for `server.skill`. */
  readonly definition: SkillDefinition
  /** The text after the frontmatter. */
  readonly instructions: string
}

/**
 * Parses the text of a `SKILL.md` for `server.skill`. Rejects with a TypeError for a text that does not
 * begin with valid frontmatter.
 */
export async function parseSkill(text: string): Promise<ParsedSkill> {
  const { frontmatter, instructions } = await parseSkillText(text)
  const { name, description, ...others } = frontmatter
  return { name, definition: { description, frontmatter: others }, instructions }
}
