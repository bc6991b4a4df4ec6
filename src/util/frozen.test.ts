import { describe, expect, it } from 'vitest'
import { frozen, frozenCopy } from './frozen.ts'

describe('frozen', () => {
  it('freezes whatever a value holds, and gives the value itself', () => {
    const value = { list: [{ deep: { name: 'a' } }], nothing: null }

    expect(frozen(value)).toBe(value)
    expect(Object.isFrozen(value)).toBe(true)
    expect(Object.isFrozen(value.list)).toBe(true)
    expect(Object.isFrozen(value.list[0]?.deep)).toBe(true)
  })

  it.each([['text'], [1], [null], [undefined]])('lets %s be', value => {
    expect(frozen(value)).toBe(value)
  })
})

describe('frozenCopy', () => {
  it('copies as a wire would, and leaves the original open', () => {
    const value = { title: undefined, info: { name: 'a' } }

    const copy = frozenCopy(value)

    expect(copy).toStrictEqual({ info: { name: 'a' } })
    expect(Object.isFrozen(copy.info)).toBe(true)
    expect(Object.isFrozen(value)).toBe(false)
    expect(Object.isFrozen(value.info)).toBe(false)
  })

  it('refuses what is no JSON', () => {
    expect(() => frozenCopy({ id: 1n })).toThrow(TypeError)
  })
})
