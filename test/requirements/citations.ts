import { provenBy, readTranscript } from '../../src/testing/transcript.ts'
import { withoutComments } from '../sources.ts'
import type { Requirement } from './table.ts'

/** One citation of a requirement. */
export interface Citation {
  readonly id: string
  /** The file that contains the citation. */
  readonly path: string
}

/**
 * Returns the requirements that a file cites: a test by calling `proves`, a transcript in its line
 * `proves:`. Throws an Error for a call whose ids are not string literals, because they cannot be found.
 */
export function citationsIn(path: string, text: string): readonly Citation[] {
  const found = path.endsWith('.txt') ? provenBy(readTranscript(text)) : idsIn(path, text)
  return found.map(id => ({ id, path }))
}

/** Returns the ids that more than one requirement has. */
export function duplicates(requirements: readonly Requirement[]): readonly string[] {
  const ids = requirements.map(({ id }) => id)
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))]
}

/** Returns the citations of requirements that do not exist. */
export function unknown(
  requirements: readonly Requirement[],
  citations: readonly Citation[],
): readonly Citation[] {
  const ids = new Set(requirements.map(({ id }) => id))
  return citations.filter(({ id }) => !ids.has(id))
}

/** Returns the requirements without citations that a test could show. */
export function uncited(
  requirements: readonly Requirement[],
  citations: readonly Citation[],
): readonly Requirement[] {
  const cited = new Set(citations.map(({ id }) => id))
  return requirements.filter(({ id, beyond }) => beyond === undefined && !cited.has(id))
}

/** Returns the requirements that are cited although they declare that no test can show them. */
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
      if (id === undefined) throw new Error(`${path}: the ids in ${call} are not strings in quotes`)
      ids.push(id)
    }
  }
  return ids
}
