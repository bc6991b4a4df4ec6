import type { Framing, FramingName } from './frame.ts'
import { headers } from './headers.ts'
import { length } from './length.ts'
import { lines } from './lines.ts'

/** The framing of this name. Throws a TypeError for a name that is none. */
export function framing(name: FramingName): Framing {
  // Names also come from files and callers the compiler never saw.
  const found = framings.get(name)
  if (found === undefined) throw new TypeError(`no framing is called "${name}"`)
  return found
}

const framings: ReadonlyMap<FramingName, Framing> = new Map(
  [lines, length, headers].map(each => [each.name, each]),
)
