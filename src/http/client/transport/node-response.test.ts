import { describe, expect, test } from 'vitest'
import { deferred } from '../../../util/deferred.ts'
import { NodeAnswer } from './node-response.ts'

function coming() {
  const told: string[] = []
  const source = {
    pause: () => void told.push('pause'),
    resume: () => void told.push('resume'),
    leave: () => void told.push('leave'),
  }
  const headers = new Map([['www-authenticate', 'Bearer']])
  return { answer: new NodeAnswer({ status: 401, reason: 'No', headers }, source), told }
}

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (piece: Uint8Array | undefined) => Buffer.from(piece ?? []).toString('utf8')

describe('the whole of an answer', () => {
  test('that has come is there at once', () => {
    const { answer } = coming()
    answer.push(bytes('abc'))
    answer.end()
    const whole = answer.whole(3)
    expect(whole instanceof Promise ? undefined : text(whole)).toBe('abc')
  })

  test('that has none is empty', () => {
    const { answer } = coming()
    answer.end()
    expect(answer.whole(0)).toEqual(new Uint8Array(0))
  })

  test('that comes in pieces is put together', async () => {
    const { answer } = coming()
    for (let i = 0; i < 1000; i++) answer.push(bytes('ab'))
    const whole = answer.whole(4000)
    for (let i = 0; i < 1000; i++) answer.push(bytes('cd'))
    answer.end()
    expect(text(await whole)).toBe(`${'ab'.repeat(1000)}${'cd'.repeat(1000)}`)
  })

  test.each([
    ['in one piece', ['abcd']],
    ['in many', ['a', 'b', 'c', 'd']],
  ])('is not given when it is too large %s', async (_, pieces) => {
    const { answer } = coming()
    for (const piece of pieces) answer.push(bytes(piece))
    answer.end()
    expect(await answer.whole(3)).toBeUndefined()
  })

  test('is left as soon as it is too large', async () => {
    const { answer, told } = coming()
    const whole = answer.whole(3)
    answer.push(bytes('abcd'))
    expect(await whole).toBeUndefined()
    expect(told).toContain('leave')
  })

  test('that broke off before anybody took it fails', async () => {
    const { answer } = coming()
    answer.push(bytes('abc'))
    answer.fail('broken')
    await expect(answer.whole(3)).rejects.toBe('broken')
  })
})

describe('the pieces of an answer', () => {
  test('wait for whoever takes them', async () => {
    const { answer, told } = coming()
    const room = deferred<void>()
    const taken: string[] = []
    const all = answer.each(piece => {
      taken.push(text(piece))
      return taken.length === 1 ? room.promise : undefined
    })
    for (const piece of ['a', 'b', 'c']) answer.push(bytes(piece))
    expect(taken).toEqual(['a'])
    expect(answer.isFull).toBe(true)
    answer.end()
    room.resolve()
    await all
    expect(taken).toEqual(['a', 'b', 'c'])
    expect(told).toContain('pause')
  })

  test.each(['throws', 'rejects'])('are left when whoever takes them %s', async how => {
    const { answer, told } = coming()
    const all = answer.each(() => {
      if (how === 'throws') throw new Error('no')
      return Promise.reject(new Error('no'))
    })
    answer.push(bytes('a'))
    await expect(all).rejects.toThrow('no')
    answer.push(bytes('b'))
    expect(told.at(-1)).toBe('leave')
  })

  test('end when they are dropped, be it in the midst of one', async () => {
    const { answer, told } = coming()
    let taken = 0
    const all = answer.each(() => {
      taken++
      answer.drop()
    })
    answer.push(bytes('a'))
    answer.push(bytes('b'))
    await all
    expect(taken).toBe(1)
    answer.drop()
    expect(told.filter(what => what === 'leave')).toHaveLength(1)
  })

  test('that came before it broke off are given', async () => {
    const { answer } = coming()
    answer.push(bytes('a'))
    answer.fail('broken')
    const taken: string[] = []
    await expect(answer.each(piece => void taken.push(text(piece)))).rejects.toBe('broken')
    expect(taken).toEqual(['a'])
  })
})

test('the headers of an answer are those that came', () => {
  const { answer } = coming()
  expect(answer).toMatchObject({ status: 401, statusText: 'No' })
  expect(answer.header('www-authenticate')).toBe('Bearer')
  expect(answer.header('__proto__')).toBeNull()
  expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
})
