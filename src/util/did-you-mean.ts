import { nearest } from './nearest.ts'

/** What to add to a complaint about a word: the one that was meant, or nothing. */
export function didYouMean(word: string, among: Iterable<string>): string {
  const meant = nearest(word, among)
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}
