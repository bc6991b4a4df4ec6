import type { Framing, FramingName } from './frame.ts'
import { headers } from './headers.ts'
import { length } from './length.ts'
import { lines } from './lines.ts'

/** Returns the framing with this name. Throws a TypeError for an unknown name. */
export function framing(name: FramingName): Framing {
  // Names also come from configuration files and from untyped callers.
  const found = framings.get(name)
  if (found === undefined)
    throw new TypeError(
      `unknown framing "${name}"; known framings: ${[...framings.keys()].join(', ')}`,
    )
  return found
}

const framings: ReadonlyMap<FramingName, Framing> = new Map(
  [lines, length, headers].map(each => [each.name, each]),
)
