import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { revisionNamed } from '../../mcp/revisions/revisions.ts'
import type { RememberedServer } from '../../router/catalog/remembered-lists.ts'
import { defaultCachePath, ListCache } from './list-cache.ts'

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lists-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'deep', 'lists.json')
}

function remembered(...names: readonly string[]): RememberedServer {
  const revision = revisionNamed('2025-11-25')
  if (revision === undefined) throw new Error('no such revision')
  const tools = names.map(name => ({ name, inputSchema: { type: 'object' as const } }))
  return {
    revision,
    capabilities: {},
    lists: { tools, prompts: [], resources: [], templates: [], skills: [] },
  }
}

async function opened(path: string) {
  const problems: string[] = []
  const cache = new ListCache(path, reason => problems.push(reason))
  await cache.load(new Set(['a:1', 'b:1']))
  return { cache, problems }
}

test('lists are there again in the next run, readable by their owner only', async () => {
  const path = place()
  const first = await opened(path)
  first.cache.lists.set('a:1', remembered('work'))
  first.cache.save()
  await first.cache.close()
  const { cache, problems } = await opened(path)
  expect(cache.lists.get('a:1')).toEqual(remembered('work'))
  expect([...first.problems, ...problems]).toEqual([])
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o077).toBe(0)
})

test('what another router has written meanwhile stays', async () => {
  const path = place()
  const { cache: one } = await opened(path)
  const { cache: other } = await opened(path)
  for (const [cache, key] of [
    [one, 'a:1'],
    [other, 'b:1'],
  ] as const) {
    cache.lists.set(key, remembered(key))
    cache.save()
    await cache.close()
  }
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')).servers)).toEqual(['a:1', 'b:1'])
})

test('only what is asked for is loaded', async () => {
  const path = place()
  const first = await opened(path)
  for (const key of ['a:1', 'c:1']) first.cache.lists.set(key, remembered(key))
  first.cache.save()
  await first.cache.close()
  const { cache } = await opened(path)
  expect(Object.keys(cache.lists.export().servers)).toEqual(['a:1'])
  cache.save()
  await cache.close()
  const { servers } = JSON.parse(readFileSync(path, 'utf8'))
  expect(Object.keys(servers).toSorted()).toEqual(['a:1', 'c:1'])
})

test.each(['', '{', '[]', '{"version":2,"servers":{}}', '{"version":1,"servers":{"a":7,"b":{}}}'])(
  'a file that holds %s is no obstacle',
  async text => {
    const path = place()
    const first = await opened(path)
    first.cache.save()
    await first.cache.close()
    writeFileSync(path, text)
    const { cache } = await opened(path)
    cache.lists.set('a:1', remembered('work'))
    cache.save()
    await cache.close()
    expect((await opened(path)).cache.lists.get('a:1')).toEqual(remembered('work'))
  },
)

test('the default place is in the folder for caches', () => {
  expect(defaultCachePath({ XDG_CACHE_HOME: '/x' })).toBe(join('/x', 'trunkline', 'lists.json'))
})
