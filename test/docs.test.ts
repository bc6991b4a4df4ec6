import { describe, expect, test } from 'vitest'
import { errors } from '../src/mcp/errors/constructors.ts'
import { errorTable } from '../src/mcp/errors/table.ts'
import { toWire } from '../src/mcp/errors/wire.ts'
import { events } from '../src/observe/events.ts'
import { type MetricRow, metricTable } from '../src/observe/metrics/table.ts'
import type { Limit } from '../src/util/limits/limit.ts'
import { limits } from '../src/util/limits/limits.ts'
import { cornerCases } from './corner-cases.ts'
import { documentedTable, readFile, type Table } from './tables.ts'

describe('docs/errors.md', () => {
  test('shows the error table', () => {
    const head = ['kind', 'constructor', 'code', 'mcp', 'stateless', 'message', 'category']
    const expected: Table = [[...head, 'severity', 'data'], ...errorRows()]
    expect(documentedTable('docs/errors.md', 'errors', expected)).toEqual(expected)
  })

  test('shows every code of ChannelError', () => {
    const source = readFile('src/jsonrpc/channel.ts')
    const union = /type ChannelErrorCode =((?:\s*\|?\s*'[a-z-]+')+)/.exec(source)?.[1] ?? ''
    const codes = Array.from(union.matchAll(/'([a-z-]+)'/g), ([, code]) => `\`${code}\``)
    expect(codes.length).toBeGreaterThan(0)
    expect(firstColumn('docs/errors.md', 'channel-errors')).toEqual(codes)
  })
})

function errorRows(): Table {
  const makers = Object.entries(errors)
  return Array.from(errorTable.values(), (entry, at) => {
    const { kind, code, message, category, severity, data } = entry
    // The cast is safe: both are in the order of the error table, and data does not change the code.
    const [name, make] = makers[at] as [string, () => ReturnType<typeof errors.parseError>]
    const sent = (era: 'session' | 'stateless') => toWire(make(), { revision: { era } }).code
    const other = (number: number) => (number === code ? '' : `${number}`)
    const members = data.map(member => `\`${member}\``).join(', ')
    const numbers = [`${code}`, other(sent('session')), other(sent('stateless'))]
    return [`\`${kind}\``, `\`${name}\``, ...numbers, message, category, severity, members]
  })
}

test('docs/limits.md shows how unusual input is handled', () => {
  const rows = cornerCases.map(({ what, happens }) => [what, happens])
  const expected = [['input', 'what happens'], ...rows]
  expect(documentedTable('docs/limits.md', 'corner-cases', expected)).toEqual(expected)
})

test('docs/limits.md shows every limit', () => {
  const rows = Object.entries(limits).map(([name, limit]) => [
    `\`${name}\``,
    amount(limit.default, limit.unit),
    limit.unit,
    limit.meaning,
  ])
  const expected = [['limit', 'default', 'unit', 'meaning'], ...rows]
  expect(documentedTable('docs/limits.md', 'limits', expected)).toEqual(expected)
})

describe('docs/observe.md', () => {
  test('shows every metric', () => {
    const rows = Object.entries<MetricRow>(metricTable).map(([name, metric]) => [
      `\`${name}\``,
      metric.type,
      metric.labels.map(label => `\`${label}\``).join(', '),
      metric.help,
      metric.otel ?? '',
    ])
    const expected = [['metric', 'type', 'labels', 'meaning', 'OpenTelemetry'], ...rows]
    expect(documentedTable('docs/observe.md', 'metrics', expected)).toEqual(expected)
  })

  test('shows every event', () => {
    const rows = Object.entries(events).map(([name, { name: channel }]) => [
      `\`${channel}\``,
      `\`events.${name}\``,
      `\`${name[0]?.toUpperCase()}${name.slice(1)}\``,
    ])
    const expected = [['channel', 'with types', 'type'], ...rows]
    expect(documentedTable('docs/observe.md', 'events', expected)).toEqual(expected)
  })
})

/** Formats a number for readers: 10 MiB, 60 s, 65 536. */
function amount(value: number, unit: Limit['unit']): string {
  if (unit === 'bytes') {
    return value % 2 ** 20 === 0 ? `${value / 2 ** 20} MiB` : `${value / 2 ** 10} KiB`
  }
  if (unit === 'ms') return value % 1000 === 0 ? `${value / 1000} s` : `${value} ms`
  return `${value}`.replace(/(?<=\d)(?=(\d{3})+$)/g, ' ')
}

test.each([
  ['dependencies', 'package.json', 'dependencies'],
  ['devDependencies', 'package.json', 'devDependencies'],
  ['thirdParty', 'third-party/package.json', 'dependencies'],
])('docs/dependencies.md gives a reason for all %s', (table, path, kind) => {
  const manifest: Record<string, Record<string, string>> = JSON.parse(readFile(path))
  const names = Object.keys(manifest[kind] ?? {}).map(name => `\`${name}\``)
  expect(firstColumn('docs/dependencies.md', table)).toEqual(names)
  for (const [name, why] of documentedTable('docs/dependencies.md', table)) {
    expect(why, name).toMatch(/\S/)
  }
})

test('docs/dependencies.md gives a reason for what the site needs', () => {
  const { devDependencies } = JSON.parse(readFile('site/package.json'))
  const names = Object.keys(devDependencies).map(name => `\`${name}\``)
  expect(firstColumn('docs/dependencies.md', 'site')).toEqual(names)
})

function firstColumn(path: string, name: string): string[] {
  const [, ...rows] = documentedTable(path, name)
  return rows.map(([cell = '']) => cell)
}
