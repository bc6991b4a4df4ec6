import { isRecord } from '../../util/record.ts'

/** Schemes under which an icon may be had: all others could read files, run scripts or be overheard. */
const schemes: ReadonlySet<string> = new Set(['https:', 'data:'])

/** A thing of the server's without the icons that nobody should fetch; itself where all are fine. */
export function withSafeIcons<T extends object>(thing: T): T {
  if (!('icons' in thing) || thing.icons === undefined) return thing
  const { icons } = thing
  const all: readonly unknown[] = Array.isArray(icons) ? icons : []
  const safe = all.filter(isSafe)
  return Array.isArray(icons) && safe.length === all.length ? thing : { ...thing, icons: safe }
}

function isSafe(icon: unknown): boolean {
  if (!isRecord(icon) || typeof icon.src !== 'string') return false
  return URL.canParse(icon.src) && schemes.has(new URL(icon.src).protocol)
}
