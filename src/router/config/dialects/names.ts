import { limits } from '../../../util/limits/limits.ts'
import { checkServerName } from '../../catalog/names.ts'

/**
 * Returns a valid and unique server name for each name of a file: itself if it is valid, otherwise a readable
 * one made from it, such as `My_Files` for `My Files` and `context7-mcp` for `github.com/upstash/context7-mcp`.
 * The result depends only on the names and their order.
 */
export function validNames(given: readonly string[]): readonly string[] {
  const taken = new Set(given.filter(isValid))
  return given.map(name => {
    if (isValid(name)) return name
    const lastPart = name.split(/[/\\:]/).findLast(part => cleaned(part) !== '') ?? name
    const candidates = [cleaned(lastPart), cleaned(name)].filter(one => one !== '')
    const free =
      candidates.find(one => !taken.has(one)) ?? numbered(candidates[0] ?? 'server', taken)
    taken.add(free)
    return free
  })
}

function isValid(name: string): boolean {
  return checkServerName(name) === undefined
}

/** Replaces what a name must not contain; letters lose their accents. */
function cleaned(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^[_.-]+|[_.-]+$/g, '')
    .slice(0, limits.serverNameLength.default)
}

function numbered(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`
    const candidate = name.slice(0, limits.serverNameLength.default - suffix.length) + suffix
    if (!taken.has(candidate)) return candidate
  }
}
