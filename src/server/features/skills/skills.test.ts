import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  allRevisions,
  answeringClient,
  sessionRevisions,
  stateless,
} from '../../../../test/support/answering-client.ts'
import { parseSkillText } from '../../../mcp/skills/frontmatter.ts'
import { limits } from '../../../util/limits/limits.ts'
import { Server } from '../../server.ts'
import { parseSkill } from './parse-skill.ts'

const extension = 'io.modelcontextprotocol/skills'
const uri = 'skill://acme/refunds/SKILL.md'
const definition = {
  description: 'Refund an order',
  frontmatter: { license: 'MIT' },
  files: { 'references/policy.md': 'ü', 'assets/a b.bin': new Uint8Array([0, 255]) },
}

function make(options = {}) {
  return new Server({ name: 'test', version: '1' }, { onError: () => {}, ...options })
}

function digest(bytes: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

// biome-ignore lint/suspicious/noExplicitAny: assertions say what they expect
type Loose = any

async function client(server: Server) {
  const { request } = await answeringClient(server, stateless)
  return async (method: string, params = {}): Promise<Loose> => {
    const { result, error } = await request(method, params)
    return result ?? error
  }
}

describe('skills', () => {
  it('are listed with the digest and size of every file', async () => {
    const server = make()
    server.skill('acme/refunds', definition, '# Refunds\n')
    const request = await client(server)
    const { capabilities } = await request('server/discover')
    expect(capabilities).toMatchObject({
      resources: {},
      extensions: { [extension]: { directoryRead: true } },
    })
    const { contents } = await request('resources/read', { uri })
    expect(contents).toMatchObject([{ uri, mimeType: 'text/markdown' }])
    const { text } = contents[0]
    const frontmatter = { name: 'refunds', description: 'Refund an order', license: 'MIT' }
    expect((await parseSkillText(text)).frontmatter).toEqual(frontmatter)
    const skill = {
      uri,
      frontmatter,
      resources: [
        { uri, digest: digest(text), size: Buffer.byteLength(text) },
        { uri: 'skill://acme/refunds/references/policy.md', digest: digest('ü'), size: 2 },
        {
          uri: 'skill://acme/refunds/assets/a%20b.bin',
          digest: digest(new Uint8Array([0, 255])),
          size: 2,
        },
      ],
    }
    expect(await request('skills/list')).toMatchObject({ skills: [skill], ttlMs: 0 })
    expect(await request('skills/get', { uri })).toMatchObject({ skill, cacheScope: 'private' })
    const { resources } = await request('resources/list')
    expect(resources).toMatchObject([
      { uri, name: 'refunds', description: 'Refund an order', size: skill.resources[0]?.size },
      { name: 'policy.md', mimeType: 'text/markdown' },
      { name: 'a b.bin', mimeType: 'application/octet-stream' },
    ])
  })

  it.each(sessionRevisions)('are resources and nothing more in %s', async revision => {
    const server = make()
    server.skill('refunds', { description: 'x' }, '# Refunds\n')
    const { request } = await answeringClient(server, revision)
    expect((await request('skills/list')).error).toMatchObject({ code: -32601 })
    const { result } = await request('resources/read', { uri: 'skill://refunds/SKILL.md' })
    expect(result).toMatchObject({ contents: [{ mimeType: 'text/markdown' }] })
  })

  it.each(allRevisions)('are not declared in %s without any', async revision => {
    const server = make()
    server.resource('x', 'r:///x', {}, () => 'x')
    const { request } = await answeringClient(server, revision)
    expect((await request('skills/list')).error).toMatchObject({ code: -32601 })
    expect((await request('resources/directory/read', { uri: 'r:///' })).error).toMatchObject({
      code: -32601,
    })
    if (revision !== stateless) return
    expect((await request('server/discover')).result?.capabilities).not.toHaveProperty('extensions')
  })

  it('that do not exist are invalid params', async () => {
    const server = make()
    server.skill('refunds', { description: 'x' }, 'x')
    server.resource('x', 'r:///x/SKILL.md', {}, () => 'x')
    const request = await client(server)
    for (const other of ['skill://refunds', 'skill://other/SKILL.md', 'r:///x/SKILL.md', '', 5]) {
      expect(await request('skills/get', { uri: other })).toMatchObject({ code: -32602 })
    }
    expect(await request('skills/list', { cursor: 'x' })).toMatchObject({ code: -32602 })
  })

  it('come in pages', async () => {
    const server = make({ pageSize: 2 })
    for (const name of ['a', 'b', 'c']) server.skill(name, { description: name }, name)
    const request = await client(server)
    const first = await request('skills/list')
    const second = await request('skills/list', { cursor: first.nextCursor })
    const names = [...first.skills, ...second.skills].map(skill => skill.frontmatter.name)
    expect(names).toEqual(['a', 'b', 'c'])
    expect(second).not.toHaveProperty('nextCursor')
  })

  it('have folders, whose children can be read', async () => {
    const server = make()
    server.skill('acme/refunds', definition, 'x')
    const request = await client(server)
    const children = async (of: string) => {
      const { resources, code } = await request('resources/directory/read', { uri: of })
      return code ?? resources.map((child: Loose) => [child.uri, child.mimeType])
    }
    expect(await children('skill://acme')).toEqual([['skill://acme/refunds', 'inode/directory']])
    expect(await children('skill://acme/refunds')).toEqual([
      [uri, 'text/markdown'],
      ['skill://acme/refunds/references', 'inode/directory'],
      ['skill://acme/refunds/assets', 'inode/directory'],
    ])
    expect(await children('skill://acme/refunds/assets')).toEqual([
      ['skill://acme/refunds/assets/a%20b.bin', 'application/octet-stream'],
    ])
    for (const other of [uri, 'skill://acme/', 'skill://ac', 'skill:', 'skill:/', '']) {
      expect(await children(other), other).toBe(-32602)
    }
  })

  it('whose instructions are made for every read have no digests', async () => {
    const server = make()
    let reads = 0
    server.skill('report', { description: 'x' }, () => `read ${++reads}`)
    const request = await client(server)
    const at = 'skill://report/SKILL.md'
    expect((await request('skills/get', { uri: at })).skill.resources).toBe('dynamic')
    for (const text of [/read 1$/, /read 2$/]) {
      const { contents } = await request('resources/read', { uri: at })
      expect(contents).toEqual([expect.objectContaining({ text: expect.stringMatching(text) })])
    }
  })

  it('can be updated, disabled and removed, with all their files', async () => {
    const server = make()
    const skill = server.skill('acme/refunds', definition, 'x')
    const request = await client(server)
    const files = async () => (await request('resources/list')).resources.length
    skill.update({ description: 'new', files: { 'a.md': 'a' } })
    const updated = await request('skills/get', { uri })
    expect(updated.skill.frontmatter.description).toBe('new')
    expect(updated.skill.resources).toHaveLength(2)
    expect(await files()).toBe(2)
    skill.disable()
    skill.update({ description: 'hidden' })
    expect(skill.isEnabled).toBe(false)
    expect(await request('skills/get', { uri })).toMatchObject({ code: -32602 })
    expect(await files()).toBe(0)
    skill.enable()
    expect((await request('skills/list')).skills).toHaveLength(1)
    expect(await files()).toBe(2)
    expect(() => skill.update({ files: { '../x': 'x' } })).toThrow(TypeError)
    expect(await files()).toBe(2)
    skill.remove()
    skill.update({ description: 'gone' })
    expect(await request('skills/list')).toMatchObject({ skills: [] })
    expect(await files()).toBe(0)
    server.skill('acme/refunds', definition, 'x')
    expect(await files()).toBe(3)
  })

  it('are refused with the reason where the definition is not valid', () => {
    const server = make()
    const wrong = server as Loose
    const skill =
      (...args: unknown[]) =>
      () =>
        wrong.skill(...args)
    server.skill('taken', { description: 'x' }, 'x')
    server.resource('x', 'skill://held/SKILL.md', {}, () => 'x')
    const many = Object.fromEntries(
      Array.from({ length: limits.skillFiles.default }, (_, index) => [`${index}`, '']),
    )
    const large = { x: new Uint8Array(limits.skillBytes.default) }
    const long = 'x'.repeat(limits.skillDescription.default + 1)
    expect(skill('Bad', { description: 'x' }, 'x')).toThrow('lowercase')
    expect(skill(5, { description: 'x' }, 'x')).toThrow('must be a string')
    expect(skill('a', { descripton: 'x' }, 'x')).toThrow('did you mean "description"')
    expect(skill('a', {}, 'x')).toThrow('the description must have 1 to 1024')
    expect(skill('a', { description: long }, 'x')).toThrow('the description must have 1 to 1024')
    expect(skill('a', { description: 'x' })).toThrow('the instructions')
    expect(skill('a', 'x')).toThrow('the definition must be an object')
    expect(skill('a', { description: 'x', frontmatter: { name: 'b' } }, 'x')).toThrow('"name"')
    const reserved = { metadata: { 'io.modelcontextprotocol/x': 1 } }
    expect(skill('a', { description: 'x', frontmatter: reserved }, 'x')).toThrow('reserved')
    const lengthy = { x: 'x'.repeat(limits.frontmatterLength.default) }
    expect(skill('a', { description: 'x', frontmatter: lengthy }, 'x')).toThrow('more than 65536')
    expect(skill('a', { description: 'x', files: { 'SKILL.md': '' } }, 'x')).toThrow('SKILL.md')
    expect(skill('a', { description: 'x', files: { a: 5 } }, 'x')).toThrow('a string or')
    expect(skill('a', { description: 'x', files: many }, 'x')).toThrow('at most 512 files')
    expect(skill('a', { description: 'x', files: large }, 'x')).toThrow('at most 16777216 bytes')
    expect(skill('taken', { description: 'x' }, 'x')).toThrow('duplicate')
    expect(skill('taken/in', { description: 'x' }, 'x')).toThrow('nested')
    expect(skill('held', { description: 'x' }, 'x')).toThrow('duplicate resource')
    expect(skill('a', { description: 'x' }, '---\nname: a\n---\n')).toThrow('parseSkill')
  })

  it('can be made of a SKILL.md', async () => {
    const text = '---\nname: a\ndescription: does a\nlicense: MIT\n---\n# A\n'
    const { name, definition: parsed, instructions } = await parseSkill(text)
    expect(instructions).toBe('# A\n')
    const server = make()
    server.skill(name, parsed, instructions)
    const request = await client(server)
    const { skills } = await request('skills/list')
    expect(skills).toMatchObject([
      { frontmatter: { name: 'a', description: 'does a', license: 'MIT' } },
    ])
    await expect(parseSkill('# A')).rejects.toThrow(TypeError)
  })
})
