import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cursors, createCursors } from './cursor.ts'

function key(fill: number, length = 32): Uint8Array {
  return new Uint8Array(length).fill(fill)
}

const positions = fc.nat({ max: Number.MAX_SAFE_INTEGER })

describe('a cursor', () => {
  const cursors = createCursors()

  test('is read as the position it was made for', () => {
    fc.assert(
      fc.property(fc.string(), positions, (binding, position) => {
        const cursor = cursors.make(binding, position)
        expect(cursor).toMatch(/^[\w-]{23,43}$/)
        expect(cursors.read(binding, cursor)).toBe(position)
        expect(cursors.make(binding, position)).toBe(cursor)
      }),
    )
  })

  test.each([[0], [1], [Number.MAX_SAFE_INTEGER]])('can stand for %i', position => {
    expect(cursors.read('tools/list', cursors.make('tools/list', position))).toBe(position)
  })

  test.each([[-1], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY], [2 ** 53]])(
    'cannot stand for %d',
    position => {
      expect(() => cursors.make('tools/list', position)).toThrow(RangeError)
    },
  )

  test('is not read with any bit flipped', () => {
    const bytes = Buffer.from(cursors.make('tools/list', 12_345), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(cursors.read('tools/list', changed.toString('base64url'))).toBeUndefined()
    }
  })

  test('is not read when cut or made longer', () => {
    const cursor = cursors.make('tools/list', 12_345)
    for (let place = 1; place < cursor.length; place++) {
      expect(cursors.read('tools/list', cursor.slice(0, place))).toBeUndefined()
      expect(cursors.read('tools/list', cursor.slice(place))).toBeUndefined()
    }
    for (const more of ['A', '=', 'AAAA', '\n', ' ']) {
      expect(cursors.read('tools/list', cursor + more)).toBeUndefined()
    }
  })

  test('is not read with the position of another', () => {
    const [a, b] = [1, 2].map(n => Buffer.from(cursors.make('tools/list', n), 'base64url'))
    const mixed = Buffer.concat([a?.subarray(0, 16) ?? key(0), b?.subarray(16) ?? key(0)])
    expect(cursors.read('tools/list', mixed.toString('base64url'))).toBeUndefined()
  })

  test('is nothing that somebody made up', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String()), text => {
        expect(cursors.read('tools/list', text)).toBeUndefined()
      }),
    )
  })

  test.each([
    ['the empty string', ''],
    ['a number', '100'],
    ['a number in base64', 'MTAw'],
    ['as long as a message may be', 'A'.repeat(10_000_000)],
  ])('is not %s', (_, text) => {
    expect(cursors.read('tools/list', text)).toBeUndefined()
  })

  test.each([[undefined], [null], [7], [{}]])('is not %j', value => {
    // The check: a caller in JavaScript may pass anything.
    expect(cursors.read('tools/list', value as unknown as string)).toBeUndefined()
  })
})

describe('what a cursor belongs to', () => {
  const cursors = createCursors()

  test.each<[string, string | readonly string[], string | readonly string[]]>([
    ['another method', 'tools/list', 'prompts/list'],
    ['another version of the list', ['tools/list', '1'], ['tools/list', '2']],
    ['no version', ['tools/list', '1'], ['tools/list']],
    ['another caller', ['tools/list', '1', 'alice'], ['tools/list', '1', 'bob']],
    ['parts that were moved', ['tools/list', '12'], ['tools/list1', '2']],
    ['parts that were joined', ['tools/list', '1'], 'tools/list,1'],
    ['a list instead of a text', 'tools/list', ['tools/list']],
    ['a text that looks like a list', ['a'], '["a"]'],
  ])('it is not read for %s', (_, binding, other) => {
    const cursor = cursors.make(binding, 7)
    expect(cursors.read(other, cursor)).toBeUndefined()
    expect(cursors.read(binding, cursor)).toBe(7)
  })
})

describe('keys of cursors', () => {
  test('one process reads what another one with the same key has made', () => {
    const [a, b] = [createCursors({ keys: [key(1)] }), createCursors({ keys: [key(1)] })]
    expect(b.read('x', a.make('x', 9))).toBe(9)
  })

  test('without a key of their own, two do not understand each other', () => {
    expect(createCursors().read('x', createCursors().make('x', 9))).toBeUndefined()
  })

  test('after a change of keys the old cursors are still read', () => {
    const before = createCursors({ keys: [key(1)] })
    const during = createCursors({ keys: [key(2), key(1)] })
    const after = createCursors({ keys: [key(2)] })
    expect(during.read('x', before.make('x', 9))).toBe(9)
    expect(after.read('x', during.make('x', 9))).toBe(9)
    expect(after.read('x', before.make('x', 9))).toBeUndefined()
    expect(before.read('x', during.make('x', 9))).toBeUndefined()
  })

  test('every byte of a key counts', () => {
    const cursor = createCursors({ keys: [key(1, 48)] }).make('x', 9)
    for (let place = 0; place < 48; place++) {
      const other = key(1, 48)
      other[place] = 2
      expect(createCursors({ keys: [other] }).read('x', cursor)).toBeUndefined()
    }
  })

  test('clearing the array afterwards changes nothing', () => {
    const secret = key(1)
    const cursors: Cursors = createCursors({ keys: [secret] })
    secret.fill(0)
    expect(createCursors({ keys: [key(1)] }).read('x', cursors.make('x', 9))).toBe(9)
  })

  test.each([
    ['none', [], 'needs at least one'],
    ['a short one', [key(1, 31)], 'not 31'],
    ['a short one behind a good one', [key(1), key(1, 16)], 'not 16'],
  ])('%s is refused', (_, keys, words) => {
    expect(() => createCursors({ keys })).toThrow(TypeError)
    expect(() => createCursors({ keys })).toThrow(words)
  })
})
