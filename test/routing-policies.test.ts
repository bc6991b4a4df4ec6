import { describe, expect, test } from 'vitest'
import { exposedNameOf, prefixOf } from '../src/router/catalog/names.ts'
import { readConfig } from '../src/router/config/read.ts'
import { shortHash } from '../src/router/policy/hash.ts'
import { limits } from '../src/util/limits/limits.ts'
import { read } from './sources.ts'

const page = read('docs/routing-policies.md')
const table = new Map<string, { readonly default: number }>(Object.entries(limits))

describe('docs/routing-policies.md', () => {
  const blocks = Array.from(page.matchAll(/^```jsonc\n(.*?)^```/gms), match => match[1] ?? '')

  test.each(blocks)('has lines that are valid in a configuration: %s', lines => {
    const all = lines.includes('"mcpServers"') ? lines : `"mcpServers": { ${lines} }`
    // A server needs a target, and most of the lines omit it.
    const text = all.replace(
      /"search": \{(?!\s*"(?:urls|command)")/,
      '"search": { "url": "http://127.0.0.1:1/mcp", ',
    )
    expect(readConfig(`{ ${text} }`, { env: {} }).servers).toHaveProperty('search')
  })

  test('names the defaults of the table of limits', () => {
    const named = Array.from(page.matchAll(/\b(\w+)`? \((\d[\d ]*?)( s)?\)/g), match => ({
      name: match[1] ?? '',
      value: Number(match[2]?.replaceAll(' ', '')) * (match[3] === undefined ? 1 : 1000),
    }))
    const known = named.filter(({ name }) => table.has(name))
    expect(known.length).toBeGreaterThan(12)
    for (const { name, value } of known)
      expect([name, value]).toEqual([name, table.get(name)?.default])
  })

  test('shows the defaults of breakers, retries and restarts', () => {
    const { servers } = readConfig(
      `{ "mcpServers": { ${blocks
        .flatMap(block => block.match(/"(?:breaker|retry|restart)": \{[^}]*\}/) ?? [])
        .map((line, at) => `"s${at}": { "command": "x", ${line} }`)} } }`,
      { env: {} },
    )
    const { breaker, retry, restart } = Object.assign({}, ...Object.values(servers))
    expect(breaker).toEqual({
      failures: limits.breakerFailures.default,
      ratio: limits.breakerRatio.default,
      window: limits.breakerWindow.default,
      openMs: limits.breakerOpenMs.default,
      successes: limits.breakerSuccesses.default,
    })
    expect(retry).toEqual({
      attempts: limits.retryAttempts.default,
      budget: limits.retryBudget.default,
    })
    expect(restart).toEqual({
      maxRestarts: limits.maxRestarts.default,
      windowMs: limits.restartWindowMs.default,
      minMs: limits.restartMinMs.default,
      maxMs: limits.restartMaxMs.default,
    })
  })

  test('shows a name as the router builds it', () => {
    expect(shortHash('')).toHaveLength(10)
    expect(page).toContain(`\`${exposedNameOf('files', prefixOf('files'), 'git/commit')}\``)
  })
})
