import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { files, read, root } from './sources.ts'

/**
 * Words that once stood for ideas the field has words for, each with the one to use. They match whole
 * words in any case, in sources, tests and documents.
 */
const banned: readonly (readonly [word: string, instead: string])[] = [
  ['errands?', 'call, in-flight call'],
  ['lanes?', 'connection'],
  ['doubt(s|ful|ed|ing)?', 'ambiguous'],
  ['passages?', 'forwarding'],
  ['departures?', 'write batch'],
  ['outlets?', 'resumable stream'],
  ['lifelines?', 'reconnecting connection'],
  ['leash(es)?', 'cancel scope'],
  ['seams?', 'hook'],
  ['wordings?', 'result encoder'],
  ['switchboards?', 'dispatcher'],
  ['verdicts?', 'result; for protocol versions, version cache'],
  ['patience', 'timeout'],
  ['allowances?', 'token bucket'],
  ['whoever', 'the caller, the client, the reader'],
  ['whomever', 'the caller, the client, the reader'],
  ['told of', 'notified of'],
  ['tells? of', 'reports'],
  ['put away', 'quarantined'],
  ['under ?way', 'in flight'],
  ['heeds?', 'honor'],
  ['nought', 'zero'],
  ['oftener', 'more often'],
  ['how-many-eth', 'attempt number'],
  ['excuses?', 'reason'],
  ['housekeeping', 'background timer'],
]

const rules = banned.map(([word, instead]) => ({
  word,
  instead,
  pattern: new RegExp(`(?<![\\w-])(?:${word})(?![\\w-])`, 'i'),
}))

const documents = [...readdirSync(root), ...files('docs').map(name => `docs/${name}`)].filter(
  name => name.endsWith('.md') && name !== 'CHANGELOG.md',
)
const sources = files('src').map(name => `src/${name}`)
const others = ['bench', 'examples', 'scripts'].flatMap(folder =>
  files(folder)
    .filter(name => !name.includes('node_modules/'))
    .map(name => `${folder}/${name}`),
)
const tests = files('test')
  .filter(name => /\.(?:ts|js)$/.test(name) && !name.includes('node_modules/'))
  .map(name => `test/${name}`)
  .filter(path => path !== 'test/words.test.ts')

describe.each([
  ['documents', documents],
  ['sources', sources],
  ['benchmarks, examples and scripts', others],
  ['tests', tests],
])('%s', (_, paths) => {
  test.each(rules)('do not say "$word": $instead', ({ pattern }) => {
    const found = paths.flatMap(path => linesWith(path, pattern))
    expect(found).toEqual([])
  })
})

function linesWith(path: string, pattern: RegExp): string[] {
  if (path === 'docs/glossary.md') return []
  return read(path)
    .split('\n')
    .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : []))
}
