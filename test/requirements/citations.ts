import { provenBy, readTranscript } from '../../src/testing/transcript.ts'
import { withoutComments } from '../sources.ts'
import type { Requirement } from './table.ts'

/** One mention of a requirement. */
export interface Citation {
  readonly id: string
  /** The file it stands in. */
  readonly path: string
}

/**
 * The requirements that a file says it shows: a test by calling `proves`, a transcript in its line
 * `proves:`. Throws an Error for a call whose ids are no strings in quotes: they could not be found.
 */
export function citationsIn(path: string, text: string): readonly Citation[] {
  const found = path.endsWith('.txt') ? provenBy(readTranscript(text)) : idsIn(path, text)
  return found.map(id => ({ id, path }))
}

/** The ids that more than one requirement has. */
export function duplicates(requirements: readonly Requirement[]): readonly string[] {
  const ids = requirements.map(({ id }) => id)
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))]
}

/** The citations of requirements that do not exist. */
export function unknown(
  requirements: readonly Requirement[],
  citations: readonly Citation[],
): readonly Citation[] {
  const ids = new Set(requirements.map(({ id }) => id))
  return citations.filter(({ id }) => !ids.has(id))
}

/** The requirements that nothing cites, although a test could show them. */
export function uncited(
  requirements: readonly Requirement[],
  citations: readonly Citation[],
): readonly Requirement[] {
  const cited = new Set(citations.map(({ id }) => id))
  return requirements.filter(({ id, beyond }) => beyond === undefined && !cited.has(id))
}

/** The requirements that are cited although they say that no test can show them. */
export function overcited(
  requirements: readonly Requirement[],
  citations: readonly Citation[],
): readonly Requirement[] {
  const cited = new Set(citations.map(({ id }) => id))
  return requirements.filter(({ id, beyond }) => beyond !== undefined && cited.has(id))
}

function idsIn(path: string, text: string): readonly string[] {
  const ids: string[] = []
  for (const [call, inside = ''] of withoutComments(text).matchAll(/\bproves\(([^)]*)\)/g)) {
    const list = inside.trim().replace(/,$/, '').split(',')
    for (const item of list) {
      const id = /^(['"])([^'"]+)\1$/.exec(item.trim())?.[2]
      if (id === undefined) throw new Error(`${path}: the ids in ${call} are no strings in quotes`)
      ids.push(id)
    }
  }
  return ids
}
