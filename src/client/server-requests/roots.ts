import type { Root } from '../../mcp/types/roots.ts'
import type { Roots } from '../options.ts'

/** The roots as they are now. Rejects with a TypeError for one that no server may be told. */
export async function currentRoots(roots: Roots): Promise<readonly Root[]> {
  const found = typeof roots === 'function' ? await roots() : roots
  return checkedRoots(found)
}

/**
 * The same roots, if each is the address of a folder or file here. Throws a TypeError for any other: a
 * path that goes up again may end where nobody meant to let a server in.
 */
export function checkedRoots(roots: readonly Root[]): readonly Root[] {
  for (const { uri } of roots) {
    if (typeof uri !== 'string' || !uri.startsWith('file://') || !URL.canParse(uri)) {
      throw new TypeError(`a root is a file:// address, not ${JSON.stringify(uri)}`)
    }
    if (/(?:^|[\\/])(?:\.|%2e){2}(?:[\\/]|$|[?#])|%2f|%5c|%00/i.test(uri)) {
      throw new TypeError(`the root ${JSON.stringify(uri)} may lead elsewhere`)
    }
  }
  return roots
}
