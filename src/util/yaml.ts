// The package `yaml`, in the one file that imports it. Import this file lazily.

export {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml'

/** Whether a text would cost the parser, which recurses for every level, more than its size justifies. */
export function isHostileYaml(text: string): boolean {
  // More than any file has, even with brackets in its strings.
  const max = 1000
  if (/(?:[-?:][ \t]+){1000}/.test(text)) return true
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    if (depth > max) return true
  }
  return false
}
