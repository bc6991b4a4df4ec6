import { expect, test } from 'vitest'
import { wordsIn } from './words.ts'

test.each([
  ['createIssue', 'create an issue'],
  ['get_branches', 'branch of it, get!'],
  ['repositories', 'Repository'],
  ['stopped, stopping, stops', 'stop stop stop'],
  ['Closes tickets', 'closed ticket'],
  ['Straße', 'STRASSE'.toLowerCase().replace('ss', 'ß')],
  ['ﬁle', 'file'],
])('%s and %s have the same words', (one, other) => {
  expect(wordsIn(one).toSorted()).toEqual(
    wordsIn(other)
      .filter(word => word !== '')
      .toSorted(),
  )
})

test('short words, numbers and other scripts stay as they are', () => {
  expect(wordsIn('is it s3, a PR or 日本語?')).toEqual(['s3', 'pr', '日本語'])
})
