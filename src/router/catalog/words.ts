/**
 * Returns the words of a text, for a search: split at everything but letters and digits and inside of
 * camelCase, in lower case, without endings of English plurals and verbs, and without words that every
 * sentence has.
 */
export function wordsIn(text: string): readonly string[] {
  const split = text
    .normalize('NFKC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
  const words = split.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter(word => !stopWords.has(word)).map(stem)
}

const stopWords = new Set(
  (
    'a an and any are as at be by can do does for from how i if in into is it its me my of on or our so some ' +
    'that the their them then there these this those to was we what when where which who why will with you your'
  ).split(' '),
)

/** Removes an ending, so that "creates", "created" and "creating" are one word. Not meant for readers. */
function stem(word: string): string {
  if (word.length < 4) return word
  const base = word
    .replace(/(?:sses|shes|ches|xes)$/, ending => ending.slice(0, -2))
    .replace(/ies$/, 'y')
    .replace(/([^su])s$/, '$1')
    .replace(/(?<=[\p{L}]{3})(?:ing|ed)$/u, '')
  const single = base.replace(/([bdgmnprt])\1$/, '$1')
  return single.length < 4 ? single : single.replace(/e$/, '')
}
