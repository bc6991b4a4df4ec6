import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Members, statelessServer } from '../../test/support/scripted-server.ts'
import { openClient } from './client.ts'

const uri = 'skill://acme/refunds/SKILL.md'
const text = '---\nname: refunds\ndescription: Refund\nmetadata: {a: [1]}\n---\n# Refunds\n'
const policy = 'skill://acme/refunds/references/policy@1.md'
const frontmatter = { metadata: { a: [1] }, description: 'Refund', name: 'refunds' }
const entry = { uri, frontmatter, resources: [file(uri, text), file(policy, 'ü')] }

function file(at: string, content: string) {
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
  return { uri: at, digest, size: Buffer.byteLength(content) }
}

/** A client of a server with one skill, with this entry and these files. */
async function open(skill: unknown = entry, files: Members = {}, settings: unknown = {}) {
  const contents = new Map<unknown, unknown>(
    Object.entries({ [uri]: { text }, [policy]: { text: 'ü' }, ...files }),
  )
  const server = statelessServer(
    {
      'skills/list': () => ({ skills: [skill] }),
      'skills/get': () => ({ skill }),
      'resources/read': ({ uri: at }) => ({ contents: [{ uri: at, ...(contents.get(at) ?? {}) }] }),
      'resources/directory/read': () => ({ resources: [{ uri: policy, name: 'policy.md' }] }),
    },
    {
      capabilities: {
        resources: {},
        extensions: settings === null ? {} : { 'io.modelcontextprotocol/skills': settings },
      } as never,
    },
  )
  const client = await openClient(server.dial, { onError: () => {} })
  const reads = () => server.received.filter(({ method }) => method === 'resources/read').length
  return { client, reads }
}

describe('a client', () => {
  it('lists skills without reading them, and loads one by its entry or its URI', async () => {
    const { client, reads } = await open()
    const { value } = await client.skills().next()
    expect(value).toEqual(entry)
    expect(reads()).toBe(0)
    for (const skill of [uri, entry]) {
      const loaded = await client.skill(skill)
      expect(loaded).toMatchObject({
        entry,
        name: 'refunds',
        description: 'Refund',
        instructions: '# Refunds\n',
      })
      expect((await loaded.read('references/policy@1.md')).text).toBe('ü')
      expect((await loaded.read(policy)).text).toBe('ü')
    }
    expect(reads()).toBe(6)
    await client.close()
  })

  it.each([
    ['other content', { [uri]: { text: text.replace('# R', '# X') } }, 'its digest differs'],
    ['another size', { [uri]: { text: `${text}more` } }, 'bytes'],
    ['no content', { [uri]: {} }, 'not one file'],
    ['invalid Base64', { [uri]: { blob: '***' } }, 'not one file'],
  ])('does not load a skill with %s', async (_what, files, why) => {
    const { client } = await open(entry, files)
    await expect(client.skill(uri)).rejects.toMatchObject({
      code: 'framing',
      message: expect.stringContaining(why),
    })
    await client.close()
  })

  const { resources } = entry
  it.each<[string, unknown]>([
    ['frontmatter', { ...entry, frontmatter: { ...frontmatter, description: 'other' } }],
    ['fewer fields', { ...entry, frontmatter: { name: 'refunds', description: 'Refund' } }],
    ['more fields', { ...entry, frontmatter: { ...frontmatter, license: 'MIT' } }],
    [
      'frontmatter of a dynamic skill',
      { ...entry, frontmatter: { name: 'refunds' }, resources: 'dynamic' },
    ],
    ['a name', { ...entry, frontmatter: { ...frontmatter, name: 'other' } }],
    ['a URI', { ...entry, uri: policy }],
    ['another skill', { ...entry, uri: 'skill://other/refunds/SKILL.md', resources: 'dynamic' }],
    ['no resources', { ...entry, resources: undefined }],
    ['resources', { ...entry, resources: 'all' }],
    ['no SKILL.md', { ...entry, resources: [resources[1]] }],
    ['a file twice', { ...entry, resources: [...resources, resources[0]] }],
    ['a file elsewhere', { ...entry, resources: [...resources, file('skill://b/c', '')] }],
    ['no digest', { ...entry, resources: [{ uri, size: 1 }] }],
    ['nothing', null],
  ])('does not load a skill with an entry that is wrong: %s', async (_what, wrong) => {
    const { client } = await open(wrong)
    await expect(client.skill(uri)).rejects.toMatchObject({ code: 'framing' })
    await client.close()
  })

  it('reads only files that the entry lists, as it lists them', async () => {
    const { client, reads } = await open(entry, { [policy]: { text: 'u' } })
    const skill = await client.skill(entry)
    await expect(skill.read(policy)).rejects.toMatchObject({ code: 'framing' })
    const before = reads()
    for (const other of ['new.md', '../x', 'file:///etc/passwd', '']) {
      await expect(skill.read(other), other).rejects.toMatchObject({ code: 'framing' })
    }
    expect(reads()).toBe(before)
    await client.close()
  })

  it('loads binary files, and files of a skill that has no digests', async () => {
    const blob = Buffer.from(text).toString('base64')
    const listed = await open(entry, { [policy]: { blob: Buffer.from('ü').toString('base64') } })
    const skill = await listed.client.skill(uri)
    expect((await skill.read(policy)).contents).toMatchObject([{ blob: 'w7w=' }])
    await listed.client.close()
    const dynamic = await open({ ...entry, resources: 'dynamic' }, { [policy]: { blob } })
    const loaded = await dynamic.client.skill(uri)
    expect((await loaded.read(policy)).contents).toMatchObject([{ blob }])
    await dynamic.client.close()
  })

  it('requests nothing of the extension that the server has not declared', async () => {
    const { client } = await open(entry, {}, null)
    await expect(client.skill(uri)).rejects.toMatchObject({ code: 'refused' })
    await expect(client.skills().next()).rejects.toMatchObject({ code: 'refused' })
    await client.close()
    const plain = await open()
    await expect(plain.client.directory('skill://a').next()).rejects.toMatchObject({
      code: 'refused',
    })
    await plain.client.close()
    const folders = await open(entry, {}, { directoryRead: true })
    const { value } = await folders.client.directory('skill://acme/refunds/references').next()
    expect(value).toMatchObject({ uri: policy })
    await folders.client.close()
  })
})
