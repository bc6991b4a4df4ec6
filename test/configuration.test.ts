import { writeFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { hosts } from '../src/cli/hosts/hosts.ts'
import { configNames } from '../src/cli/target/config-file.ts'
import { serverKeys } from '../src/router/config/dialects/keys.ts'
import { dialects } from '../src/router/config/dialects/table.ts'
import { type ConfigJson, describeType, type Field } from '../src/router/config/field.ts'
import { readConfig } from '../src/router/config/read.ts'
import { configGroups } from '../src/router/config/schema.ts'
import { readConfigText } from '../src/router/config/text.ts'
import { configJsonSchema } from './support/config-json-schema.ts'
import { keyText } from './support/dialect-keys.ts'
import { documentedTable, readFile } from './tables.ts'

const page = 'docs/configuration.md'
const schemaFile = 'schema/trunkline.schema.json'
const env = { FILES_KEY: 'a', SEARCH_TOKEN: 'b' }

/** The example at the top of the page. */
const example = /```jsonc\n(.*?)```/s.exec(readFile(page))?.[1] ?? ''

describe(page, () => {
  test.each([...configGroups.keys()])('shows the fields of the group %s', name => {
    const fields = configGroups.get(name)?.fields ?? new Map<string, Field>()
    const head = ['field', 'value', 'default', 'meaning', 'example']
    const rows = Array.from(
      fields,
      ([field, { type, meaning, default: usual, example, reconnects }]) => [
        `\`${field}\`${reconnects ? ' ↻' : ''}`,
        describeType(type),
        defaultCell(usual),
        meaning,
        code(example),
      ],
    )
    const expected = [head, ...rows]
    expect(readFile(page)).toContain(`\n### ${configGroups.get(name)?.title}\n`)
    expect(documentedTable(page, `config-${name}`, expected)).toEqual(expected)
  })

  test('lists the files that are searched for, in order', () => {
    const names = configNames.map(name => `\`${name.replaceAll('\\', '/')}\``)
    expect(readFile(page)).toContain(names.join(', '))
  })

  test('has a valid example with most fields', () => {
    const config = readConfig(example, { env, file: page })
    expect(config.warnings).toEqual([])
    expect(Object.keys(config.servers)).toEqual(['files', 'search', 'tickets', 'later'])
    expect(config.servers.search?.headers).toEqual({ Authorization: 'Bearer b' })
  })
})

describe('docs/host-files.md', () => {
  const hostPage = 'docs/host-files.md'

  test('shows the keys of other hosts', () => {
    const rows = Array.from(serverKeys, ([key, rule]) => [
      `\`${key}\``,
      {
        field: 'taken',
        members: 'taken',
        envFile: 'taken',
        ignored: 'ignored',
        refused: 'refused',
      }[rule.kind],
      keyText(rule),
    ])
    const expected = [['key', 'is', 'meaning here'], ...rows]
    expect(documentedTable(hostPage, 'dialect-keys', expected)).toEqual(expected)
  })

  test('shows the hosts', () => {
    const rows = hosts.map(({ id, title, project, user }) => {
      const paths = typeof user === 'object' ? [...new Set(Object.values(user))] : [user ?? '']
      const code = (path: string) => (path === '' ? '' : `\`${path}\``)
      return [`\`${id}\``, title, code(project ?? ''), paths.map(code).join(', ')]
    })
    const expected = [['HOST', 'host', 'file of a project', 'file of the user'], ...rows]
    expect(documentedTable(hostPage, 'hosts', expected)).toEqual(expected)
  })

  test('shows the dialects', () => {
    const rows = dialects.map(({ host, files, servers, timeout }) => [
      host,
      files === undefined ? '' : `\`${readable(files)}\``,
      servers.map(path => `\`${path.join('.')}\``).join(', '),
      timeout ?? '',
    ])
    const expected = [['host', 'path of its file', 'servers', 'unit of `timeout`'], ...rows]
    expect(documentedTable(hostPage, 'dialects', expected)).toEqual(expected)
  })
})

/** A pattern of paths, for readers. */
function readable({ source }: RegExp): string {
  return source
    .replace('(?:^|\\/)', '')
    .replace('(?:.*\\/)?', '')
    .replaceAll('[^/]*', '*')
    .replaceAll('\\', '')
    .replaceAll('(?:', '(')
    .replaceAll('|', ' or ')
    .replace('$', '')
}

describe(schemaFile, () => {
  const schema = configJsonSchema()
  const isRight = new Ajv({ strict: false }).compile(schema)

  test('is generated from the table of fields', () => {
    if (process.env.UPDATE === '1') {
      const place = new URL(`../${schemaFile}`, import.meta.url)
      writeFileSync(place, `${JSON.stringify(schema, null, 2)}\n`)
    }
    // Compared by value, because the formatter decides the layout.
    expect(JSON.parse(readFile(schemaFile))).toEqual(schema)
  })

  test('accepts the example', () => {
    expect(isRight(plain(example))).toBe(true)
  })

  test.each([
    ['an unknown key', { mcpServers: { a: { comand: 'x' } } }],
    ['no servers', {}],
    ['a command and an address', { mcpServers: { a: { command: 'x', url: 'http://a' } } }],
    ['a number out of range', { mcpServers: {}, pageSize: 0 }],
    ['no address', { mcpServers: { a: { url: 'nowhere' } } }],
    ['an unknown word', { mcpServers: { a: { command: 'x', balance: 'best' } } }],
  ])('rejects %s, as readConfig does', (_, file) => {
    expect(isRight(file)).toBe(false)
    expect(() => readConfig(JSON.stringify(file), { env })).toThrow()
  })

  test('accepts references where addresses are expected', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    expect(isRight({ mcpServers: { a: { url: '${ADDRESS}' } } })).toBe(true)
  })
})

function defaultCell(value: ConfigJson | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'string' && value.startsWith('(') ? value : code(value)
}

function code(value: ConfigJson): string {
  return `\`${JSON.stringify(value)}\``
}

/** Parses JSON with comments to plain values. */
function plain(text: string): unknown {
  const { root } = readConfigText(text)
  const bare = (node: typeof root): unknown => {
    if (node === undefined || node.type === 'null') return null
    if (node.type === 'list') return node.items.map(bare)
    if (node.type !== 'object') return node.value
    const members = Array.from(node.members, ([name, { value }]) => [name, bare(value)])
    return Object.fromEntries(members)
  }
  return bare(root)
}
