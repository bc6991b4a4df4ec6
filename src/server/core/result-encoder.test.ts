import { expect, test } from 'vitest'
import { metaKeys } from '../../mcp/meta.ts'
import { profile } from '../../mcp/profile.ts'
import { newest, type Revision, revisions } from '../../mcp/revisions/revisions.ts'
import { Wording } from './result-encoder.ts'

const revision = newest('stateless') as Revision

function wording(): Wording {
  const info = { name: 'books', version: '1.0.0', title: 'Books' }
  return new Wording({ info, profile: profile(), revisions, cache: undefined, onError() {} })
}

test('a result says who answers, beside what it says in its own _meta', () => {
  const result = { content: [], _meta: { 'example.com/shelf': 7 } }
  expect(wording().complete(result, revision, 'tools/call')).toEqual({
    resultType: 'complete',
    content: [],
    _meta: {
      'example.com/shelf': 7,
      [metaKeys.serverInfo]: { name: 'books', version: '1.0.0', title: 'Books' },
    },
  })
  expect(result._meta).toEqual({ 'example.com/shelf': 7 })
})

test('whoever gets a result by reference cannot change what the next one says of the server', () => {
  const words = wording()
  const { _meta } = words.complete({ content: [] }, revision, 'tools/call')
  const said = _meta as Record<string, object>
  expect(() => Object.assign(said, { more: 1 })).toThrow(TypeError)
  expect(() => Object.assign(said[metaKeys.serverInfo] ?? {}, { name: 'else' })).toThrow(TypeError)
})
