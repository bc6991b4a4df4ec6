// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration syntax of variables
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

/** A text with the keys of the servers of all hosts. */
const everyKey = '{"mcpServers": {}, "mcp": {}, "context_servers": {}, "mcp_servers": {}}'
const empty = '{"mcpServers": {}}'

async function put(name: string, text: string | Uint8Array = empty): Promise<string> {
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  return path
}

describe('finding', () => {
  test('a given path is used, whether or not the file exists', async () => {
    await put('trunkline.json')
    expect(await findConfig('other.json', folder)).toBe('other.json')
  })

  test('otherwise the first of the known names', async () => {
    for (const name of configNames.toReversed()) {
      const path = await put(name, everyKey)
      expect(await findConfig(undefined, folder)).toBe(path)
    }
  })

  test('settings of a host without servers are passed over', async () => {
    await put(join('.gemini', 'settings.json'), '{"ui": {}}')
    await put('opencode.json', '{"model": "x"}')
    const path = await put(join('.codex', 'config.toml'), '[mcp_servers.a]')
    expect(await findConfig(undefined, folder)).toBe(path)
  })

  test('a folder with such a name is ignored', async () => {
    await mkdir(join(folder, 'trunkline.json'))
    const path = await put('mcp.json')
    expect(await findConfig(undefined, folder)).toBe(path)
  })

  test('a symbolic link counts as its target', async () => {
    await symlink(await put('real'), join(folder, 'trunkline.json'))
    expect(await findConfig(undefined, folder)).toBe(join(folder, 'trunkline.json'))
  })

  test('the error lists the searched names', async () => {
    const failure = findConfig(undefined, folder)
    await expect(failure).rejects.toThrow(ConfigError)
    for (const name of configNames) await expect(failure).rejects.toThrow(name)
  })
})

describe('loading', () => {
  test('a file becomes a configuration with its path', async () => {
    const path = await put('a.json', '{"servers": {"s": {"command": "${RUN}"}}}')
    const config = await loadConfig(path, { RUN: 'x' })
    expect(config.file).toBe(path)
    expect(config.servers).toEqual({ s: { command: 'x' } })
  })

  test('a file of the maximum size is accepted, one byte more is not', async () => {
    const max = limits.configBytes.default
    const path = await put('a.json', empty.padEnd(max))
    expect((await loadConfig(path, {})).servers).toEqual({})
    await put('a.json', empty.padEnd(max + 1))
    await expect(loadConfig(path, {})).rejects.toThrow(`larger than ${max} bytes`)
  })

  test('a byte order mark is accepted, another encoding is not', async () => {
    await expect(loadConfig(await put('a.json', `\uFEFF${empty}`), {})).resolves.toBeDefined()
    const path = await put('b.json', Buffer.from(`\uFEFF${empty}`, 'utf16le'))
    await expect(loadConfig(path, {})).rejects.toThrow('not UTF-8')
  })

  test('a file that cannot be read is rejected with the reason', async () => {
    const missing = join(folder, 'none.json')
    await expect(loadConfig(missing, {})).rejects.toThrow(
      `${missing}: cannot read the file: no such file`,
    )
    await expect(loadConfig(folder, {})).rejects.toThrow('it is a folder')
    await expect(loadConfig(folder, {})).rejects.toThrow(ConfigError)
  })
})
