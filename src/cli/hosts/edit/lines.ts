import type { Position } from '../../../router/config/issue.ts'

/** Returns the line end that a text uses; `\n` if it has no line. */
export function lineEndOf(text: string): string {
  return /\r\n/.test(text) ? '\r\n' : '\n'
}

/** Returns the offset of a position. */
export function offsetOf(text: string, { line, column }: Position): number {
  let start = 0
  const ends = text.matchAll(/\r\n|\r|\n/g)
  for (let at = 1; at < line; at++) {
    const { value: end } = ends.next()
    if (end === undefined) break
    start = end.index + end[0].length
  }
  return start + column - 1
}

/** Returns the lines of a text, each with its line end. */
export function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Returns the changed lines of two texts with `-` and `+`, and up to two lines around them. */
export function diffLines(before: string, after: string): readonly string[] {
  const [old, now] = [before, after].map(text => linesOf(text).map(line => line.trimEnd()))
  if (old === undefined || now === undefined) return []
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  const room = Math.min(old.length, now.length) - start
  while (end < room && old.at(-1 - end) === now.at(-1 - end)) end++
  return [
    ...old.slice(Math.max(0, start - 2), start).map(line => `  ${line}`),
    ...old.slice(start, old.length - end).map(line => `- ${line}`),
    ...now.slice(start, now.length - end).map(line => `+ ${line}`),
    ...old.slice(old.length - end, old.length - end + 2).map(line => `  ${line}`),
  ]
}
