import { beforeAll, describe, expect, test } from 'vitest'
import {
  type Citation,
  citationsIn,
  duplicates,
  overcited,
  uncited,
  unknown,
} from './requirements/citations.ts'
import { every, type Requirement } from './requirements/table.ts'
import { isRequirement, proves, requirements } from './requirements.ts'
import { files, read } from './sources.ts'

describe('the requirements', () => {
  const citations = allCitations()

  beforeAll(() => {
    const levels = ['MUST', 'SHOULD'].map(level => `${count({ level })} ${level}`)
    const open = uncited(requirements, citations).length
    const beyond = requirements.filter(one => one.beyond !== undefined).length
    const cited = requirements.length - beyond - open
    console.log(
      `requirements: ${requirements.length} (${levels.join(', ')}); ${cited} cited, ${open} not, ` +
        `${beyond} beyond any test`,
    )
  })

  test('have unique ids', () => {
    expect(duplicates(requirements)).toEqual([])
    expect(requirements.filter(({ id }) => !/^[A-Z][1-9]\d*[a-z]?$/.test(id))).toEqual([])
  })

  test('with a letter suffix in their ids have a counterpart without it', () => {
    const alone = requirements.filter(({ id }) => !isRequirement(id.replace(/[a-z]$/, '')))
    expect(alone).toEqual([])
  })

  test('are one sentence each', () => {
    const odd = requirements.filter(({ says }) => !/^[A-Z].*[^.]\.$/s.test(says))
    expect(odd.map(({ id, says }) => `${id}: ${says}`)).toEqual([])
  })

  test('name the page and the heading', () => {
    expect(requirements.filter(({ section }) => !/^\S.* \/ \S/.test(section))).toEqual([])
  })

  test('name revisions that exist, oldest first', () => {
    const order = new Map(every.map((revision, place) => [revision, place]))
    const odd = requirements.filter(({ revisions }) => {
      const places = revisions.map(revision => order.get(revision) ?? -1)
      const isOrdered = places.every((place, at) => place > (places[at - 1] ?? -1))
      return places.length === 0 || !isOrdered
    })
    expect(odd).toEqual([])
  })

  test('cover every revision', () => {
    for (const revision of every) {
      expect([revision, count({ revision }) > 100]).toEqual([revision, true])
    }
  })

  test('are each shown by a test', () => {
    expect(uncited(requirements, citations).map(({ id, says }) => `${id}: ${says}`)).toEqual([])
  })

  test('that are cited exist', () => {
    expect(unknown(requirements, citations)).toEqual([])
  })

  test('that no test can show are not cited', () => {
    expect(overcited(requirements, citations)).toEqual([])
  })
})

describe('a citation', () => {
  const sample = (text: string) => citationsIn('a.test.ts', text).map(({ id }) => id)

  const cases = [
    ['of one', "proves('B2')", ['B2']],
    ['of several', "proves('B2', 'B5b')", ['B2', 'B5b']],
    ['over several lines', "proves(\n  'B2',\n  'B5b',\n)", ['B2', 'B5b']],
    ['in double quotes', 'proves("B2")', ['B2']],
    ['twice in a file', "proves('B2')\nproves('B3')", ['B2', 'B3']],
    ['in a comment, which is ignored', "// proves('B2')\n/* proves('B3') */", []],
    ['of a function with a longer name', "improves('B2')", []],
  ] as const

  test.each(cases)('%s', (_, text, ids) => {
    expect(sample(text)).toEqual(ids)
  })

  test.each(['proves(id)', 'proves(...ids)', "proves('B2' + x)", 'proves()'])(
    'that cannot be parsed is rejected: %s',
    text => {
      expect(() => sample(text)).toThrow('a.test.ts: the ids in proves(')
    },
  )

  test('of a transcript is in its line "proves:"', () => {
    const text = 'Prose.\n\nserve: x\nproves: B2, B5b\n> {"method":"a"}\n'
    expect(citationsIn('a.txt', text)).toEqual([
      { id: 'B2', path: 'a.txt' },
      { id: 'B5b', path: 'a.txt' },
    ])
  })

  test('of a requirement that does not exist throws when the test runs', () => {
    const wrong: string = 'B0'
    expect(() => proves(wrong as 'B2')).toThrow('there is no requirement B0')
    expect(() => proves('B2', 'B5b')).not.toThrow()
  })
})

describe('the checks', () => {
  const one = (id: string, beyond?: string): Requirement => ({
    id,
    level: 'MUST',
    side: 'both',
    revisions: every,
    section: 'a / b',
    says: 'A.',
    beyond,
  })
  const cite = (...ids: string[]): Citation[] => ids.map(id => ({ id, path: 'a.test.ts' }))

  test('report each duplicate id once', () => {
    expect(duplicates([one('A1'), one('A2'), one('A1'), one('A1')])).toEqual(['A1'])
    expect(duplicates([one('A1'), one('A2')])).toEqual([])
  })

  test('report citations of unknown requirements', () => {
    expect(unknown([one('A1')], cite('A1', 'A2'))).toEqual(cite('A2'))
    expect(unknown([one('A1')], cite('A1', 'A1'))).toEqual([])
  })

  test('report requirements without citations, unless no test can show them', () => {
    const all = [one('A1'), one('A2'), one('A3', 'no test can show it')]
    expect(uncited(all, cite('A1')).map(({ id }) => id)).toEqual(['A2'])
    expect(uncited(all, cite('A1', 'A2'))).toEqual([])
  })

  test('report requirements that are cited although no test can show them', () => {
    const all = [one('A1'), one('A3', 'no test can show it')]
    expect(overcited(all, cite('A1', 'A3')).map(({ id }) => id)).toEqual(['A3'])
    expect(overcited(all, cite('A1'))).toEqual([])
  })
})

/** Returns the citations in all tests and transcripts, without the samples of this file. */
function allCitations(): readonly Citation[] {
  const paths = ['src', 'test']
    .flatMap(folder => files(folder).map(path => `${folder}/${path}`))
    .filter(path => path.endsWith('.test.ts') || /^test\/transcripts\/.*\.txt$/.test(path))
    .filter(path => path !== 'test/requirements.test.ts')
  return paths.flatMap(path => citationsIn(path, read(path)))
}

function count(wanted: { readonly level?: string; readonly revision?: string }): number {
  const { level, revision } = wanted
  return requirements.filter(
    one =>
      (level === undefined || one.level === level) &&
      (revision === undefined || one.revisions.some(name => name === revision)),
  ).length
}
