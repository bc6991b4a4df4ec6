// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { expect, test } from 'vitest'
import { limits } from '../../../util/limits/limits.ts'
import { ConfigError } from '../issue.ts'
import { readConfig } from '../read.ts'
import type { ConfigText } from '../text.ts'
import { formatOf, parserFor } from './format.ts'
import { readTomlText } from './toml.ts'
import { readYamlText } from './yaml.ts'

test.each([
  ['a.json', '', 'json'],
  ['a.JSONC', '', 'json'],
  ['a.toml', '{', 'toml'],
  ['a.yml', '{', 'yaml'],
  ['config', '# comment\n[mcp_servers.a]', 'toml'],
  ['config', 'model = "x"', 'toml'],
  ['config', '\uFEFF\n# c\nextensions:\n  a:', 'yaml'],
  ['config', '// c\n{"mcpServers": {}}', 'json'],
  ['config', '', 'json'],
])('%s with %j is %s', (path, text, format) => {
  expect(formatOf(path, text)).toBe(format)
})

/** Reads a file and returns its errors, with positions. */
async function errorsOf(file: string, text: string) {
  const parse = await parserFor(file, text)
  try {
    readConfig(text, { env: {}, file, parse })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.issues.map(({ line, column, message }) => [line, column, message])
  }
}

test('errors have positions, in both formats', async () => {
  const toml = '[mcp_servers.a]\ncommand = "x"\n\n  [mcp_servers.a.env]\n  KEY = "${NONE}"\n'
  expect(await errorsOf('a.toml', toml)).toEqual([[5, 3, expect.stringContaining('NONE is not')]])
  const yaml = 'mcpServers:\n  - name: a\n    command: x\n    env:\n      KEY: ${NONE}\n'
  expect(await errorsOf('a.yaml', yaml)).toEqual([[5, 12, expect.stringContaining('NONE is not')]])
  expect(await errorsOf('a.toml', 'a = 1\nb = = 2\n')).toEqual([
    [2, expect.any(Number), expect.stringMatching(/^invalid TOML: /)],
  ])
  expect(await errorsOf('a.yaml', 'a: 1\nb: [1, 2\nc: 3\n')).toEqual([
    [expect.any(Number), expect.any(Number), expect.stringMatching(/^invalid YAML: /)],
  ])
})

test('positions in TOML are found under quoted and dotted keys, and not in strings', async () => {
  const text = `[mcp_servers]
"a b".command = """
[mcp_servers.c]
"""
'x'.url = "nowhere"
[mcp_servers."a b".env]
K = "\${NONE}"
`
  const places = (await errorsOf('a.toml', text)).map(([line]) => line)
  expect(places).toEqual([5, 7])
})

test('a syntax error shows no secrets', async () => {
  const secret = 'sk-0123456789abcdef'
  for (const [file, text] of [
    ['a.toml', `key = "${secret}" x`],
    ['a.yaml', `key: "${secret}" x`],
  ] as const) {
    expect(JSON.stringify(await errorsOf(file, text))).not.toContain(secret)
  }
})

const deep = limits.configDepth.default + 2
const bomb = Array.from({ length: 30 }, (_, at) => {
  const before =
    at === 0
      ? '1'
      : `[${Array(10)
          .fill(`*a${at - 1}`)
          .join(', ')}]`
  return `a${at}: &a${at} ${before}`
}).join('\n')

const deepening = Array.from({ length: 40 }, (_, at) =>
  at === 0 ? 'a0: &a0 [1]' : `a${at}: &a${at} [*a${at - 1}]`,
).join('\n')

const hostile: readonly [
  name: string,
  read: (text: string) => ConfigText,
  text: string,
  problem: RegExp,
][] = [
  ['aliases that multiply', readYamlText, bomb, /more than 100000 values|levels deep/],
  ['an alias in itself', readYamlText, 'a: &a [*a]', /value around it/],
  ['aliases that deepen', readYamlText, deepening, /levels deep/],
  ['sequences in sequences', readYamlText, '- '.repeat(200_000), /levels deep/],
  ['deep YAML', readYamlText, '['.repeat(deep) + ']'.repeat(deep), /levels deep/],
  ['very deep YAML', readYamlText, '['.repeat(200_000), /levels deep|invalid YAML/],
  ['deep TOML', readTomlText, `a = ${'['.repeat(deep)}${']'.repeat(deep)}`, /levels deep/],
  ['very deep TOML', readTomlText, `a = ${'['.repeat(200_000)}`, /levels deep|invalid TOML/],
  ['a large file of YAML', readYamlText, ' '.repeat(limits.configBytes.default + 1), /larger than/],
  ['a large file of TOML', readTomlText, ' '.repeat(limits.configBytes.default + 1), /larger than/],
  ['a duplicate key of YAML', readYamlText, 'a: 1\na: 2', /unique/],
  ['a duplicate key of TOML', readTomlText, 'a = 1\na = 2', /invalid TOML/],
  ['a key that is a list', readYamlText, '? [a]\n: 1', /a key must be a string/],
  ['two documents', readYamlText, 'a: 1\n---\nb: 2', /invalid YAML/],
]

test.each(hostile)('%s is rejected', (_, read, text, problem) => {
  const { root, issues } = read(text)
  expect(root).toBeUndefined()
  expect(issues).toEqual([expect.objectContaining({ message: expect.stringMatching(problem) })])
})

test('names that objects inherit are ordinary names', async () => {
  const toml =
    '[mcp_servers.__proto__]\ncommand = "x"\n[mcp_servers.__proto__.env]\n__proto__ = "y"\n'
  const yaml = 'mcpServers:\n  __proto__:\n    command: x\n    env:\n      __proto__: y\n'
  for (const [file, text] of [
    ['a.toml', toml],
    ['a.yaml', yaml],
  ] as const) {
    const { servers } = readConfig(text, { env: {}, parse: await parserFor(file, text) })
    expect(Object.keys(servers)).toEqual(['__proto__'])
    expect(Object.keys(Object.values(servers)[0]?.env ?? {})).toEqual(['__proto__'])
  }
  expect(Reflect.get({}, 'command')).toBeUndefined()
})
