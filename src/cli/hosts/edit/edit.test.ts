import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parserFor } from '../../../router/config/formats/format.ts'
import { readConfig } from '../../../router/config/read.ts'
import { UsageError } from '../../exit.ts'
import { hosts } from '../hosts.ts'
import { withoutServer, withServer } from './edit.ts'
import { entryOf } from './entry.ts'
import { diffLines } from './lines.ts'

const server = { command: '/opt/node', args: ['a "b"', 'C:\\d', '--listen', 'stdio:'] }
const url = 'https://mcp.example.com/mcp'

async function serversOf(text: string, file: string) {
  const parse = await parserFor(file, text)
  return readConfig(text, { env: {}, file, parse, tolerant: true }).servers
}

const fixtures: Readonly<Record<string, string>> = {
  'claude-code': 'claude-code/.mcp.json',
  vscode: 'vscode/.vscode/mcp.json',
  cursor: 'cursor/.cursor/mcp.json',
  gemini: 'gemini/.gemini/settings.json',
  kiro: 'kiro/.kiro/settings/mcp.json',
  roo: 'roo/.roo/mcp.json',
  opencode: 'opencode/opencode.json',
  crush: 'crush/crush.json',
  zed: 'zed/.config/zed/settings.json',
  codex: 'codex/.codex/config.toml',
  amazonq: 'amazonq/.amazonq/mcp.json',
  'claude-desktop': 'claude-desktop/claude_desktop_config.json',
  windsurf: 'windsurf/.codeium/windsurf/mcp_config.json',
  cline: 'cline/cline_mcp_settings.json',
  copilot: 'copilot/.copilot/mcp-config.json',
  goose: 'goose/.config/goose/config.yaml',
  continue: 'continue/.continue/config.yaml',
}

describe.each(hosts)('the file of $id', host => {
  const path = fixtures[host.id] ?? ''
  const file = { path, host }
  const root = new URL('../../../../test/fixtures/hosts/', import.meta.url)
  const source = readFileSync(new URL(path, root), 'utf8')
  const texts: readonly [name: string, text: string][] = [
    ['as it is', source],
    ['with Windows line ends', `\uFEFF${source.replaceAll('\n', '\r\n')}`],
    ['without a line end at its end', source.trimEnd()],
    ['that is missing', ''],
  ]

  test.each(texts)('gets a server and loses it again, byte for byte: %s', async (_, text) => {
    for (const [name, given] of [
      ['trunkline', server],
      ['my server', { url }],
    ] as const) {
      const entry = entryOf(host.form, name, given)
      const added = withServer(text, file, name, entry)
      const found = await serversOf(added, `/x/${path}`)
      const expected = 'url' in given ? { url } : server
      const installed = found[name.replace(' ', '_')]
      // Gemini CLI uses only the servers that it is told to.
      if (host.id !== 'gemini' || text === '') expect(installed).toMatchObject(expected)
      const before = text === '' ? {} : await serversOf(text, `/x/${path}`)
      expect(Object.keys(found)).toHaveLength(Object.keys(before).length + 1)
      expect(withoutServer(added, file, name)).toBe(text)
      expect(withoutServer(text, file, name)).toBeUndefined()
    }
  })
})

const cursor = { path: 'mcp.json', host: hosts.find(({ id }) => id === 'cursor') ?? hosts[0] }

describe('JSON with comments', () => {
  const file = cursor as Parameters<typeof withServer>[1]
  const texts = [
    '{}',
    '{}\n',
    '{\n}\n',
    '{"mcpServers":{}}',
    '{ "mcpServers": {\n  } }',
    '// c\n{ // d\n\t"a": 1, // e\n\t"mcpServers": { // f\n\t\t"b": {"command": "x"}, /* g */\n\t},\n}',
    '{"mcpServers": {"a": {"command": "}\\"{"}}, "z": [1, {"y": null}]}',
    '{"z": "// no comment"}',
  ]

  test.each(texts)('%j stays as it is around the server', text => {
    const added = withServer(text, file, 'trunkline', server)
    expect(withoutServer(added, file, 'trunkline')).toBe(text)
  })

  test('a server in the middle, or at the end, is removed with one comma', () => {
    const remove = (text: string) => withoutServer(text, file, 'b')
    expect(remove('{"mcpServers": {"a": {}, "b": {"x": [1]}, "c": {}}}')).toBe(
      '{"mcpServers": {"a": {}, "c": {}}}',
    )
    expect(remove('{"mcpServers": {"a": {}, "b": {}}}')).toBe('{"mcpServers": {"a": {}}}')
    expect(remove('{"mcpServers": {"b": {}}}')).toBe('{"mcpServers": {}}')
  })

  test('a file that is not valid is rejected', () => {
    for (const text of ['{', '[]', '{"mcpServers": []}', '{"a": 1 "b"}']) {
      expect(() => withServer(text, file, 'a', server)).toThrow(UsageError)
    }
  })

  test('any file stays as it is', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
    const servers = fc.record({ mcpServers: value }, { requiredKeys: [] })
    fc.assert(
      fc.property(value, servers, fc.constantFrom(0, 2, '\t'), (rest, own, space) => {
        const text = JSON.stringify({ ...rest, mcpServers: undefined, ...own }, null, space)
        fc.pre(!('trunkline' in (own.mcpServers ?? {})))
        const added = withServer(text, file, 'trunkline', server)
        expect(JSON.parse(added).mcpServers.trunkline).toEqual(server)
        expect(withoutServer(added, file, 'trunkline')).toBe(text)
      }),
    )
  })
})

test('YAML in the flow style is rejected, because a line cannot be added to it', () => {
  const host = hosts.find(({ id }) => id === 'goose')
  if (host === undefined) throw new Error('no host')
  const file = { path: 'config.yaml', host }
  expect(() => withServer('extensions: {a: {cmd: x}}\n', file, 'b', { cmd: 'y' })).toThrow(
    UsageError,
  )
})

test('the difference shows the changed lines, with two around them', () => {
  expect(diffLines('a\nb\nc\nd\ne\n', 'a\nb\nc\nX\nd\ne\n')).toEqual([
    '  b',
    '  c',
    '+ X',
    '  d',
    '  e',
  ])
  expect(diffLines('a\n', '')).toEqual(['- a'])
})
