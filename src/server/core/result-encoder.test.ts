import { expect, test } from 'vitest'
import { metaKeys } from '../../mcp/meta.ts'
import { profile } from '../../mcp/profile.ts'
import { newest, type Revision, revisions } from '../../mcp/revisions/revisions.ts'
import { ResultEncoder } from './result-encoder.ts'

const revision = newest('stateless') as Revision

function encoder(): ResultEncoder {
  const info = { name: 'books', version: '1.0.0', title: 'Books' }
  return new ResultEncoder({ info, profile: profile(), revisions, cache: undefined, onError() {} })
}

test('a result carries the server info besides the members of its own _meta', () => {
  const result = { content: [], _meta: { 'example.com/shelf': 7 } }
  expect(encoder().complete(result, revision, 'tools/call')).toEqual({
    resultType: 'complete',
    content: [],
    _meta: {
      'example.com/shelf': 7,
      [metaKeys.serverInfo]: { name: 'books', version: '1.0.0', title: 'Books' },
    },
  })
  expect(result._meta).toEqual({ 'example.com/shelf': 7 })
})

test('a receiver of a result by reference cannot change the server info of the next one', () => {
  const { _meta } = encoder().complete({ content: [] }, revision, 'tools/call') as {
    readonly _meta: Record<string, object>
  }
  expect(() => Object.assign(_meta, { more: 1 })).toThrow(TypeError)
  expect(() => Object.assign(_meta[metaKeys.serverInfo] ?? {}, { name: 'else' })).toThrow(TypeError)
})

test('a result of a session, and one that is complete already, stay as they are', () => {
  const results = encoder()
  const plain = { content: [] }
  expect(results.complete(plain, undefined, 'tools/call')).toBe(plain)
  const complete = results.complete(plain, revision, 'tools/call')
  expect(results.complete(complete, revision, 'tools/call')).toBe(complete)
})
