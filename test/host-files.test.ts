// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parserFor } from '../src/router/config/formats/format.ts'
import { ConfigError } from '../src/router/config/issue.ts'
import { readConfig } from '../src/router/config/read.ts'
import { files } from './sources.ts'

const some = { command: 'npx', args: ['-y', 'some-mcp-server'] }
const url = 'https://mcp.example.com/mcp'
const bearer = { Authorization: 'Bearer t0ken' }

/** The servers of each fixture; those that are disabled have only that. */
const expected: Readonly<Record<string, object>> = {
  'claude-code/.mcp.json': {
    files: { type: 'stdio', ...some, env: { KEY: 't0ken' } },
    remote: { type: 'http', url, headers: bearer, timeoutMs: 30_000 },
    old: { type: 'sse', url: 'https://mcp.example.com/sse' },
  },
  'claude-desktop/claude_desktop_config.json': {
    My_Files: some,
    plain: { command: 'uvx', args: ['some-server'], env: {} },
  },
  'claude-user/.claude.json': {
    local: { type: 'http', url: 'https://local.example.com/mcp' },
    shared: { type: 'stdio', ...some, env: {} },
    off: { disabled: true },
  },
  'cursor/.cursor/mcp.json': {
    files: {
      type: 'stdio',
      command: 'node',
      args: ['/w/project/server.js', '/home/ada'],
      env: { KEY: 't0ken', FROM_FILE: 'literal ${TOKEN}' },
    },
    remote: { url, headers: bearer },
  },
  'vscode/.vscode/mcp.json': {
    files: { type: 'stdio', ...some, env: { KEY: 'asked', FROM_FILE: 'literal ${TOKEN}' } },
    remote: { type: 'http', url },
  },
  'vscode-settings/settings.json': { files: some },
  'windsurf/.codeium/windsurf/mcp_config.json': {
    remote: {
      url,
      headers: { API_KEY: 't0ken', OTHER: 'k3y' },
      tools: { deny: ['delete'] },
      disabled: false,
    },
    files: some,
  },
  'cline/cline_mcp_settings.json': {
    'context7-mcp': {
      command: 'npx',
      args: ['-y', '@upstash/context7-mcp@latest'],
      disabled: false,
      timeoutMs: 60_000,
    },
    remote: { type: 'streamable-http', url, headers: {} },
  },
  'roo/.roo/mcp.json': {
    files: { command: 'node', args: ['server.js'], env: {}, timeoutMs: 30_000, disabled: false },
    remote: {
      type: 'streamable-http',
      url,
      headers: { 'X-Key': 't0ken' },
      tools: { deny: ['write'] },
    },
  },
  'kiro/.kiro/settings/mcp.json': {
    files: { command: 'uvx', args: ['some-server'], env: { LEVEL: 'ERROR' }, disabled: false },
  },
  'gemini/.gemini/settings.json': {
    files: {
      command: 'python',
      args: ['server.py'],
      env: { KEY: 't0ken' },
      cwd: './server',
      timeoutMs: 15_000,
      tools: { allow: ['read'], deny: ['write'] },
    },
    remote: { url, headers: bearer },
    hidden: { disabled: true },
    other: { disabled: true },
  },
  'zed/.config/zed/settings.json': {
    files: { ...some, env: {}, disabled: false },
    nested: { command: 'node', args: ['server.js'], env: { KEY: 'a' } },
    off: { disabled: true },
  },
  'opencode/opencode.json': {
    files: { type: 'stdio', ...some, env: { KEY: 't0ken' }, timeoutMs: 5000, disabled: false },
    remote: { disabled: true },
  },
  'crush/crush.json': {
    files: {
      type: 'stdio',
      command: 'node',
      args: ['server.js'],
      env: { NODE_ENV: 'production' },
      tools: { deny: ['write'] },
      timeoutMs: 120_000,
      disabled: false,
    },
    remote: { type: 'http', url, headers: bearer },
  },
  'amazonq/.amazonq/mcp.json': { files: { ...some, env: {}, timeoutMs: 120_000, disabled: false } },
  'copilot/.copilot/mcp-config.json': {
    files: { type: 'stdio', ...some, env: {}, tools: { allow: ['*'] } },
  },
  'fastmcp/mcp.json': {
    files: { type: 'stdio', command: 'python', args: ['server.py'] },
    remote: { type: 'streamable-http', url },
  },
  'langchain/mcp.json': {
    files: { type: 'stdio', ...some, restart: {} },
    remote: { type: 'http', url, headers: bearer },
  },
  'warp/warp.json': { files: { ...some, env: {}, cwd: '/srv' } },
  'cherry-studio/mcp.json': {
    'uid-1': { type: 'stdio', ...some, env: {}, disabled: false },
    'uid-2': { disabled: true },
  },
  'plain/mcp.json': {
    files: { command: 'node', args: ['srv.mjs'], env: { PORT: '3000', DEBUG: 'false' } },
    quiet: some,
  },
  'amp/settings.json': { files: some },
  'codex/.codex/config.toml': {
    files: {
      ...some,
      env: { KEY: 'literal' },
      inheritEnv: ['HTTPS_PROXY'],
      connectTimeoutMs: 20_000,
      timeoutMs: 45_500,
      tools: { allow: ['read'], deny: ['write'] },
    },
    my_remote: {
      url,
      headers: { ...bearer, 'X-Region': 'eu', 'X-Key': 't0ken' },
      disabled: false,
    },
    off: { disabled: true },
  },
  'goose/.config/goose/config.yaml': {
    files: {
      type: 'stdio',
      ...some,
      env: { PORT: '3000' },
      inheritEnv: ['HTTPS_PROXY'],
      timeoutMs: 300_000,
      disabled: false,
    },
    remote: {
      type: 'streamable-http',
      url,
      headers: bearer,
      timeoutMs: 60_000,
      disabled: false,
    },
    off: { disabled: true },
  },
  'continue/.continue/config.yaml': {
    Some_files: { ...some, env: { KEY: 't0ken' } },
    remote: { type: 'streamable-http', url, headers: bearer },
    merged: { command: 'npx', env: { KEY: 't0ken', OTHER: 'yes' } },
  },
}

const folder = 'test/fixtures/hosts'
const root = new URL('../', import.meta.url)
const names = files(folder).filter(name => !name.endsWith('README.md'))
const source = (name: string) => readFileSync(new URL(`${folder}/${name}`, root), 'utf8')

const places = {
  workspace: '/w/project',
  home: '/home/ada',
  separator: '/',
  readText: (path: string) => {
    if (path === '/w/project/.env') return 'FROM_FILE="literal ${TOKEN}"\nKEY=no\n'
    if (path === '/keys/other') return 'k3y\n'
    throw new Error('no such file')
  },
}

async function read(name: string, text = source(name), tolerant = false) {
  return readConfig(text, {
    parse: await parserFor(name, text),
    file: `/home/ada/${name}`,
    env: { TOKEN: 't0ken', INPUT_API_KEY: 'asked' },
    places,
    tolerant,
  })
}

/** The servers as plain objects; of a disabled one only that it is. */
async function serversOf(name: string, text?: string, tolerant?: boolean): Promise<object> {
  const { servers } = await read(name, text, tolerant)
  const entries = Object.entries(servers).map(([server, options]) => {
    const { disabled } = options
    return [server, disabled === true ? { disabled } : structuredClone(options)]
  })
  return Object.fromEntries(entries)
}

test('every fixture has its expected servers, and the other way round', () => {
  expect(names.toSorted()).toEqual(Object.keys(expected).toSorted())
})

describe.each(names)('%s', name => {
  test('is read as it is, without errors', async () => {
    expect(await serversOf(name)).toEqual(expected[name])
    const { warnings } = await read(name)
    expect(warnings.filter(({ severity }) => severity === 'error')).toEqual([])
  })

  test('a byte order mark and Windows line ends change nothing', async () => {
    const text = `\uFEFF${source(name).replaceAll('\n', '\r\n')}`
    expect(await serversOf(name, text)).toEqual(expected[name])
  })
})

describe.each(names.filter(name => name.endsWith('.json')))('%s, changed', name => {
  test('an entry that is invalid does not affect the others', async () => {
    const broken = withEntry(name, 'broken', { command: 'x', env: { A: '${UNSET}' } })
    const servers = await serversOf(name, broken, true)
    const isOff = name.startsWith('gemini')
    const entry = isOff ? { disabled: true } : { configError: expect.stringContaining('UNSET') }
    expect(servers).toEqual({ ...expected[name], broken: entry })
    if (!isOff) await expect(read(name, broken)).rejects.toThrow(ConfigError)
  })

  test('unknown keys change nothing', async () => {
    const value = JSON.parse(source(name))
    const odd = JSON.stringify({ unheardOf: { a: [1] }, ...value, zzzzzz: null }, (key, member) =>
      key !== '' && isServer(member) ? { ...member, whatever: [1] } : member,
    )
    expect(await serversOf(name, odd)).toEqual(expected[name])
  })

  test('a file that is cut off is rejected with a position', async () => {
    const text = source(name)
    for (const length of [1, text.length >> 1, text.length - 3]) {
      await expect(read(name, text.slice(0, length), true)).rejects.toMatchObject({
        issues: [expect.objectContaining({ line: expect.any(Number) })],
      })
    }
  })
})

function isServer(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('command' in value || 'type' in value)
}

/** Adds a server to a fixture, where it has its servers. */
function withEntry(name: string, server: string, entry: object): string {
  const value = JSON.parse(source(name))
  const places = [value.mcpServers, value.servers, value.mcp?.servers, value.context_servers]
  const found = [...places, value['amp.mcpServers'], value.mcp].find(place => place !== undefined)
  found[server] = entry
  return JSON.stringify(value)
}
