// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of bundles look like that
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { zipOf } from '../../../test/support/zip.ts'
import { readConfig } from '../../router/config/read.ts'
import { isBundle, readBundle } from './bundle.ts'
import { configOfManifest } from './manifest.ts'

let home = ''

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-bundle-'))
})

afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

const manifest = {
  manifest_version: '0.2',
  name: 'My Weather',
  version: '1.0.0',
  server: {
    type: 'node',
    entry_point: 'server/index.js',
    mcp_config: {
      command: 'node',
      args: ['${__dirname}/server/index.js', '--key=${user_config.api_key}', '${user_config.dirs}'],
      env: { DEBUG: '${user_config.debug}', CACHE: '${HOME}/x' },
      platform_overrides: {
        win32: { command: 'node.exe', env: { ONLY: 'windows' } },
      },
    },
  },
  user_config: {
    api_key: { type: 'string', title: 'API key', sensitive: true, required: true },
    debug: { type: 'boolean', title: 'Debug', default: false },
    dirs: { type: 'directory', multiple: true, default: ['${DOCUMENTS}', '/srv'] },
  },
}

const context = { folder: '/b', home: '/home/ada', platform: 'linux', env: {} } as const

function serverOf(given: object, env: Record<string, string>, platform: NodeJS.Platform = 'linux') {
  const text = JSON.stringify(configOfManifest(given, { ...context, env, platform }))
  return readConfig(text, { env, tolerant: true })
}

test('a manifest becomes a server, with settings from the environment', () => {
  const { servers } = serverOf(manifest, { INPUT_API_KEY: 's3cret', INPUT_DEBUG: 'true' })
  expect(servers).toEqual({
    My_Weather: {
      command: 'node',
      args: ['/b/server/index.js', '--key=s3cret', join('/home/ada', 'Documents'), '/srv'],
      env: { DEBUG: 'true', CACHE: '/home/ada/x' },
    },
  })
})

test('settings have defaults, several values, and are asked for if they are required', () => {
  const config = serverOf(manifest, { INPUT_DIRS: ['/a', '/b ${X}'].join(delimiter) })
  expect(config.missingInputs).toEqual([
    { id: 'api_key', variable: 'INPUT_API_KEY', description: 'API key', password: true },
  ])
  expect(config.servers.My_Weather?.configError).toMatch(/input "api_key" has no value/)
  const several = serverOf(manifest, { INPUT_DIRS: `/a${delimiter}/b \${X}`, INPUT_API_KEY: 'k' })
  expect(several.servers.My_Weather?.args?.slice(2)).toEqual(['/a', '/b ${X}'])
  expect(several.servers.My_Weather?.env?.DEBUG).toBe('false')
})

test('a platform may override how the server is started', () => {
  const { servers } = serverOf(manifest, { INPUT_API_KEY: 'k' }, 'win32')
  expect(servers.My_Weather).toMatchObject({
    command: 'node.exe',
    env: { ONLY: 'windows', DEBUG: 'false' },
  })
})

test.each([
  ['node', { command: 'node', args: ['/b/x'] }],
  ['python', { command: 'python3', args: ['/b/x'] }],
  ['uv', { command: 'uv', args: ['run', '--directory', '/b', '/b/x'] }],
  ['binary', { command: '/b/x' }],
])('the type %s implies how it is started', (type, expected) => {
  const given = { name: 'a', server: { type, entry_point: 'x' } }
  expect(serverOf(given, {}).servers.a).toMatchObject(expected)
})

test.each([
  ['no object', [], /must be an object/],
  ['no name', { server: {} }, /has no name/],
  ['no server', { name: 'a' }, /server in manifest.json must be an object/],
  [
    'another platform',
    { name: 'a', server: {}, compatibility: { platforms: ['darwin'] } },
    /for darwin, and this is linux/,
  ],
])('a manifest with %s is refused', (_, given, problem) => {
  expect(() => configOfManifest(given, context)).toThrow(problem)
})

test('an archive is unpacked once into the cache of the user, privately', async () => {
  const path = join(home, 'weather.mcpb')
  const env = { HOME: home, USERPROFILE: home }
  const files = [
    { name: 'manifest.json', content: JSON.stringify(manifest) },
    { name: 'server/index.js', content: '1' },
    { name: 'bin', content: '2', mode: 0o100755 },
  ]
  await writeFile(path, zipOf(files))
  expect(await isBundle(path)).toBe(true)
  const { text } = await readBundle(path, env)
  const [entry = ''] = JSON.parse(text).mcpServers['My Weather'].args
  expect(await readFile(entry, 'utf8')).toBe('1')
  const folder = join(entry, '..', '..')
  if (process.platform !== 'win32') {
    expect((await stat(join(folder, 'bin'))).mode & 0o777).toBe(0o700)
    expect((await stat(entry)).mode & 0o777).toBe(0o600)
  }
  await writeFile(join(folder, 'kept'), '')
  expect((await readBundle(path, env)).text).toBe(text)
  expect(await readdir(folder)).toContain('kept')
})

test('an unpacked folder is a bundle, and another folder is not', async () => {
  const folder = join(home, 'weather')
  await mkdir(folder)
  expect(await isBundle(folder)).toBe(false)
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
  expect(await isBundle(folder)).toBe(true)
  const { text } = await readBundle(folder, {})
  const [entry = ''] = JSON.parse(text).mcpServers['My Weather'].args
  expect(entry).toBe(`${folder}/server/index.js`)
})

test('a bundle that is hostile or damaged leaves nothing behind', async () => {
  const path = join(home, 'evil.dxt')
  const env = { HOME: home, USERPROFILE: home, XDG_CACHE_HOME: join(home, 'cache') }
  const good = { name: 'manifest.json', content: JSON.stringify(manifest) }
  for (const bad of [
    { name: '../../evil', content: 'x' },
    { name: 'late', content: 'x', crc: 1 },
    { name: 'link', content: '/etc/passwd', mode: 0o120777 },
  ]) {
    await writeFile(path, zipOf([good, bad]))
    await expect(readBundle(path, env)).rejects.toThrow(/leads out|damaged|link/)
  }
  await writeFile(path, zipOf([{ name: 'other', content: '' }]))
  await expect(readBundle(path, env)).rejects.toThrow('it has no manifest.json')
  await writeFile(path, 'no archive')
  await expect(readBundle(path, env)).rejects.toThrow('not a complete ZIP archive')
  await expect(readBundle(join(home, 'none.mcpb'), env)).rejects.toThrow('no such file')
  const left = await readdir(home, { recursive: true })
  expect(left.filter(name => /evil$|late|link|\.new/.test(name))).toEqual([])
})
