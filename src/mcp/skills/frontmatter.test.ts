import { describe, expect, it } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { parseSkillText, writeFrontmatter } from './frontmatter.ts'

describe('the frontmatter of a SKILL.md', () => {
  it('is parsed as it was written, whatever the values', async () => {
    const fields = {
      name: 'x',
      description: 'a: "b" # c\n---\n\u2028ü',
      yes: 'no',
      'allowed-tools': 'Read Write',
      'a b: c': [1, -0.5, true, null, 'null', '1', '2026-01-01', { on: 'off', y: [] }],
      metadata: { version: '1.0', '': '~' },
    }
    const text = `${writeFrontmatter(fields)}---\nbody\n`
    expect(await parseSkillText(text)).toEqual({
      frontmatter: fields,
      instructions: '---\nbody\n',
    })
  })

  it('is the YAML of any author', async () => {
    const yaml =
      'name: x\r\ndescription: >\r\n  two\r\n  lines\r\nmetadata:\r\n  a: &a [1]\r\n  b: *a'
    const { frontmatter, instructions } = await parseSkillText(
      `\uFEFF---\r\n${yaml}\r\n---\r\nbody`,
    )
    expect(frontmatter).toEqual({
      name: 'x',
      description: 'two lines\n',
      metadata: { a: [1], b: [1] },
    })
    expect(instructions).toBe('body')
  })

  it.each([
    ['', 'does not begin'],
    ['# title', 'does not begin'],
    ['---\nname: x\n', 'does not begin'],
    ['---\n---\n', 'not an object'],
    ['---\n- a\n---\n', 'not an object'],
    ['---\nname: x\n---\n', 'no description'],
    ['---\nname: 5\ndescription: x\n---\n', 'no name'],
    ['---\nname: x\nname: y\ndescription: x\n---\n', 'not valid YAML'],
    ['---\nname: [\n---\n', 'not valid YAML'],
    [`---\nname: ${'['.repeat(5000)}\n---\n`, 'too deeply'],
    [`---\nname: ${'x'.repeat(limits.frontmatterLength.default)}\n---\n`, 'more than 65536'],
    [`---\na: &a [x, x]\n${bomb()}---\n`, 'not valid YAML'],
  ])('is refused where it is not valid: %j', async (text, why) => {
    await expect(parseSkillText(text)).rejects.toThrow(new RegExp(why))
    await expect(parseSkillText(text)).rejects.toBeInstanceOf(TypeError)
  })
})

/** Aliases that would stand for 2^20 values. */
function bomb(): string {
  const names = Array.from('abcdefghijklmnopqrstu')
  return names
    .slice(1)
    .map((name, index) => `${name}: &${name} [*${names[index]}, *${names[index]}]\n`)
    .join('')
}
