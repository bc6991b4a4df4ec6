// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../router/config/read.ts'
import { deferred } from '../../util/promises.ts'
import { watchConfigs } from '../watch/config-watches.ts'
import { findHostFiles } from './find.ts'
import { type HostScope, hostPath, hosts } from './hosts.ts'
import { mergeConfigs } from './merge.ts'

let root = ''

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'trunkline-hosts-'))
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

/** A system with a home folder and a project in the temporary folder. */
function system(platform: NodeJS.Platform) {
  const home = join(root, 'home')
  const env = { HOME: home, USERPROFILE: home, APPDATA: join(home, 'AppData') }
  return { platform, env, folder: join(root, 'project') }
}

async function put(path: string, text = '{"mcpServers": {}}'): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

describe.each(['linux', 'darwin', 'win32'] as const)('on %s', platform => {
  const scopes: readonly HostScope[] = ['project', 'user']
  const places = hosts.flatMap(host => scopes.map(scope => ({ id: host.id, host, scope })))

  test.each(places)('the file of $id ($scope) is found, and no other', async ({ host, scope }) => {
    const here = system(platform)
    const path = hostPath(host, scope, here)
    if (path === undefined) expect(host[scope]).toBeUndefined()
    else {
      await put(path)
      expect(await findHostFiles(here)).toEqual([{ host, scope, path }])
      expect(
        await findHostFiles(
          here,
          scopes.filter(one => one !== scope),
        ),
      ).toEqual([])
    }
  })
})

function config(file: string, mcpServers: object) {
  return readConfig(JSON.stringify({ mcpServers }), { env: { X: 'x' }, file, tolerant: true })
}

describe('several files', () => {
  test('equal servers are merged, and others of the same name are renamed and named', () => {
    const one = config('one.json', { a: { command: 'a' }, b: { command: 'b' } })
    const two = config('two.json', {
      other: { command: 'a' },
      b: { command: '${X}' },
      r: { command: 'npx', args: ['-y', 'trunkline', 'up'] },
    })
    const { servers, shown, warnings, file } = mergeConfigs([one, two])
    expect(servers).toEqual({ a: { command: 'a' }, b: { command: 'b' }, b_2: { command: 'x' } })
    expect([...shown]).toEqual([['servers.b_2.command', '${X}']])
    expect(file).toBe('one.json, two.json')
    expect(warnings.map(({ message }) => message)).toEqual([
      'two.json: server b differs from that of one.json; it is named b_2 here',
      'two.json: server r is a router; it is left out',
    ])
  })

  test('invalid servers keep their reasons, with the file in warnings', () => {
    const bad = { bad: { url: 'nowhere' } }
    const { servers, warnings } = mergeConfigs([config('one.json', bad), config('two.json', bad)])
    expect(Object.keys(servers)).toEqual(['bad', 'bad_2'])
    expect(warnings[0]?.message).toMatch(/^one\.json:1:\d+: .*not an address/)
  })

  test('are watched together', async () => {
    const [one, two] = [join(root, 'one.json'), join(root, 'two.yaml')]
    await put(one, '{"mcpServers": {"a": {"command": "a"}}}')
    await put(two, 'mcpServers:\n  b: { command: b }\n')
    const { promise, resolve } = deferred<unknown>()
    await using watches = await watchConfigs([one, two], { env: {}, onChange: resolve })
    expect(Object.keys(watches.config.servers)).toEqual(['a', 'b'])
    await writeFile(two, 'mcpServers:\n  c: { command: c }\n')
    expect(await promise).toMatchObject({ servers: { a: {}, c: {} } })
    expect(Object.keys(watches.config.servers)).toEqual(['a', 'c'])
  })
})
