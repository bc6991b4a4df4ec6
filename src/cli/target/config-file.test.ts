// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError } from '../../router/config/issue.ts'
import { limits } from '../../util/limits/limits.ts'
import { configNames, findConfig, loadConfig } from './config-file.ts'

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-config-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

const empty = '{"mcpServers": {}}'

async function put(name: string, text: string | Uint8Array = empty): Promise<string> {
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  return path
}

describe('finding', () => {
  test('the path that is given is the one, whether or not there is a file', async () => {
    await put('trunkline.json')
    expect(await findConfig('other.json', folder)).toBe('other.json')
  })

  test('otherwise the first of the known names', async () => {
    for (const name of configNames.toReversed()) {
      const path = await put(name)
      expect(await findConfig(undefined, folder)).toBe(path)
    }
  })

  test('a folder of such a name is none', async () => {
    await mkdir(join(folder, 'trunkline.json'))
    const path = await put('mcp.json')
    expect(await findConfig(undefined, folder)).toBe(path)
  })

  test('a link counts as what it stands for', async () => {
    await symlink(await put('real'), join(folder, 'trunkline.json'))
    expect(await findConfig(undefined, folder)).toBe(join(folder, 'trunkline.json'))
  })

  test('where it was looked is told if there is none', async () => {
    const failure = findConfig(undefined, folder)
    await expect(failure).rejects.toThrow(ConfigError)
    for (const name of configNames) await expect(failure).rejects.toThrow(name)
  })
})

describe('loading', () => {
  test('a file becomes a configuration that knows where it is from', async () => {
    const path = await put('a.json', '{"servers": {"s": {"command": "${RUN}"}}}')
    const config = await loadConfig(path, { RUN: 'x' })
    expect(config.file).toBe(path)
    expect(config.servers).toEqual({ s: { command: 'x' } })
  })

  test('as long as the limit is fine, one byte more is not', async () => {
    const most = limits.configBytes.default
    const path = await put('a.json', empty.padEnd(most))
    expect((await loadConfig(path, {})).servers).toEqual({})
    await put('a.json', empty.padEnd(most + 1))
    await expect(loadConfig(path, {})).rejects.toThrow(`longer than ${most} bytes`)
  })

  test('a byte order mark is fine, another encoding is named as the reason', async () => {
    await expect(loadConfig(await put('a.json', `\uFEFF${empty}`), {})).resolves.toBeDefined()
    const path = await put('b.json', Buffer.from(`\uFEFF${empty}`, 'utf16le'))
    await expect(loadConfig(path, {})).rejects.toThrow('not UTF-8')
  })

  test('what cannot be read is told with its reason', async () => {
    const none = join(folder, 'none.json')
    await expect(loadConfig(none, {})).rejects.toThrow(
      `${none}: the file cannot be read: there is none`,
    )
    await expect(loadConfig(folder, {})).rejects.toThrow('it is a folder')
    await expect(loadConfig(folder, {})).rejects.toThrow(ConfigError)
  })
})
