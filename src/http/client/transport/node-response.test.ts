import { describe, expect, test } from 'vitest'
import { deferred } from '../../../util/promises.ts'
import { NodeResponse } from './node-response.ts'

function coming() {
  const sent: string[] = []
  const source = {
    remoteAddress: '127.0.0.1',
    pause: () => void sent.push('pause'),
    resume: () => void sent.push('resume'),
    abandon: () => void sent.push('abandon'),
  }
  const headers = new Map([['www-authenticate', 'Bearer']])
  return { response: new NodeResponse({ status: 401, reason: 'No', headers }, source), sent }
}

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (piece: Uint8Array | undefined) => Buffer.from(piece ?? []).toString('utf8')

describe('the whole body', () => {
  test('that has arrived is returned synchronously', () => {
    const { response } = coming()
    response.push(bytes('abc'))
    response.end()
    const whole = response.whole(3)
    expect(whole instanceof Promise ? undefined : text(whole)).toBe('abc')
  })

  test('that has none is empty', () => {
    const { response } = coming()
    response.end()
    expect(response.whole(0)).toEqual(new Uint8Array(0))
  })

  test('that arrives in pieces is concatenated', async () => {
    const { response } = coming()
    for (let i = 0; i < 1000; i++) response.push(bytes('ab'))
    const whole = response.whole(4000)
    for (let i = 0; i < 1000; i++) response.push(bytes('cd'))
    response.end()
    expect(text(await whole)).toBe(`${'ab'.repeat(1000)}${'cd'.repeat(1000)}`)
  })

  test.each([
    ['in one piece', ['abcd']],
    ['in many', ['a', 'b', 'c', 'd']],
  ])('is not returned when it is too large %s', async (_, pieces) => {
    const { response } = coming()
    for (const piece of pieces) response.push(bytes(piece))
    response.end()
    expect(await response.whole(3)).toBeUndefined()
  })

  test('is discarded as soon as it is too large', async () => {
    const { response, sent } = coming()
    const whole = response.whole(3)
    response.push(bytes('abcd'))
    expect(await whole).toBeUndefined()
    expect(sent).toContain('abandon')
  })

  test('that broke off before it was read fails', async () => {
    const { response } = coming()
    response.push(bytes('abc'))
    response.fail('broken')
    await expect(response.whole(3)).rejects.toBe('broken')
  })
})

describe('the pieces of a body', () => {
  test('wait for the reader', async () => {
    const { response, sent } = coming()
    const room = deferred<void>()
    const taken: string[] = []
    const all = response.each(piece => {
      taken.push(text(piece))
      return taken.length === 1 ? room.promise : undefined
    })
    for (const piece of ['a', 'b', 'c']) response.push(bytes(piece))
    expect(taken).toEqual(['a'])
    expect(response.isFull).toBe(true)
    response.end()
    room.resolve()
    await all
    expect(taken).toEqual(['a', 'b', 'c'])
    expect(sent).toContain('pause')
  })

  test.each(['throws', 'rejects'])('are discarded when the reader %s', async how => {
    const { response, sent } = coming()
    const all = response.each(() => {
      if (how === 'throws') throw new Error('no')
      return Promise.reject(new Error('no'))
    })
    response.push(bytes('a'))
    await expect(all).rejects.toThrow('no')
    response.push(bytes('b'))
    expect(sent.at(-1)).toBe('abandon')
  })

  test('end when the body is discarded, even while one is read', async () => {
    const { response, sent } = coming()
    let taken = 0
    const all = response.each(() => {
      taken++
      response.discard()
    })
    response.push(bytes('a'))
    response.push(bytes('b'))
    await all
    expect(taken).toBe(1)
    response.discard()
    expect(sent.filter(what => what === 'abandon')).toHaveLength(1)
  })

  test('that arrived before it broke off are delivered', async () => {
    const { response } = coming()
    response.push(bytes('a'))
    response.fail('broken')
    const taken: string[] = []
    await expect(response.each(piece => void taken.push(text(piece)))).rejects.toBe('broken')
    expect(taken).toEqual(['a'])
  })
})

test('the headers of a response are those that arrived', () => {
  const { response } = coming()
  expect(response).toMatchObject({ status: 401, statusText: 'No' })
  expect(response.header('www-authenticate')).toBe('Bearer')
  expect(response.header('__proto__')).toBeNull()
  expect(response.headers.get('WWW-Authenticate')).toBe('Bearer')
})
