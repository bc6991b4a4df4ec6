import { describe, expect, test } from 'vitest'
import { connect, Server } from '../../src/index.ts'
import { Router } from '../../src/router/index.ts'

const revisions = ['2026-07-28'] as const

function serverWith(name: string, ...skills: readonly string[]) {
  const server = new Server({ name, version: '1' }, { revisions, onError: () => {} })
  server.tool('hello', {}, () => name)
  for (const skill of skills) {
    const files = { 'references/a.md': `of ${name}` }
    server.skill(skill, { description: `${skill} of ${name}`, files }, `# ${name}\n`)
  }
  return server
}

async function all<T>(entries: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const entry of entries) found.push(entry)
  return found
}

describe('a router', () => {
  test('serves the skills of its servers; the first one with a URI wins', async () => {
    const one = serverWith('one', 'a', 'shared')
    const two = serverWith('two', 'shared', 'b')
    const router = new Router({
      name: 'router',
      servers: {
        one: { server: one },
        two: { server: two },
        plain: { server: serverWith('plain') },
      },
    })
    const client = await connect(router, { revisions })
    const skills = await all(client.skills())
    expect(skills.map(({ frontmatter }) => frontmatter.description)).toEqual([
      'a of one',
      'shared of one',
      'b of two',
    ])
    for (const entry of skills) {
      const skill = await client.skill(entry.uri)
      const { text } = await skill.read('references/a.md')
      expect(text).toBe(`of ${skill.description.split(' ').at(-1)}`)
    }
    const names = (await all(client.directory('skill://b'))).map(({ name }) => name)
    expect(names).toEqual(['b', 'references'])
    await expect(client.skill('skill://none/SKILL.md')).rejects.toMatchObject({ code: -32602 })
    await expect(all(client.directory('skill://none'))).rejects.toMatchObject({ code: -32602 })

    const changes = client.changes({ resourceList: true })
    const next = changes.next()
    await changes.ready
    two.skill('late', { description: 'late of two' }, 'x')
    expect(await next).toMatchObject({ done: false })
    expect(await all(client.skills())).toHaveLength(4)
    await client.close()
    await router.close()
  })

  test('has no skills where its servers have none', async () => {
    const router = new Router({
      name: 'router',
      servers: { plain: { server: serverWith('plain') } },
    })
    const client = await connect(router, { revisions })
    expect(await all(client.skills())).toEqual([])
    await expect(client.directory('skill://a').next()).rejects.toMatchObject({ code: 'refused' })
    await client.close()
    await router.close()
  })
})
