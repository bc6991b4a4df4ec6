import { isRecord } from '../../util/objects.ts'

/** Allowed URL schemes of icons: others could read files, run scripts or be read on the network. */
const schemes: ReadonlySet<string> = new Set(['https:', 'data:'])

/** Returns an object of the server without the icons whose scheme is not allowed; the same object if all are. */
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
