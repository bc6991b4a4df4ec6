import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { growth, proportional } from '../../../test/fuzz/cost.ts'
import { anyText } from '../../../test/support/any-text.ts'
import { createSealer, type SealBinding, type Sealer } from './seal.ts'

const ttlMs = 60_000
const binding: SealBinding = {
  purpose: 'requestState',
  principal: 'alice',
  method: 'tools/call',
  params: { name: 'deploy', arguments: { env: 'prod', count: 2 } },
}

function key(fill: number, length = 32): Uint8Array {
  return new Uint8Array(length).fill(fill)
}

describe('a sealed value', () => {
  test('opens again, for any JSON value', async () => {
    const sealer = createSealer()
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async value => {
        const token = await sealer.seal(value, binding, { ttlMs })
        expect(token).toMatch(/^[\w-]+$/)
        const opened = await sealer.open(token, binding)
        expect(opened).toEqual({ ok: true, value: JSON.parse(JSON.stringify(value)) })
      }),
      { numRuns: 50 },
    )
  })

  test('opens as often as it is shown', async () => {
    const sealer = createSealer()
    const token = await sealer.seal('x', binding, { ttlMs })
    for (let time = 0; time < 3; time++) {
      expect(await sealer.open(token, binding)).toEqual({ ok: true, value: 'x' })
    }
  })

  test('cannot be read', async () => {
    const token = await createSealer().seal('a secret of ours', binding, { ttlMs })
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('secret')
  })

  test('never looks the same twice', async () => {
    const sealer = createSealer()
    const tokens = await Promise.all(
      Array.from({ length: 10_000 }, () => sealer.seal(null, binding, { ttlMs })),
    )
    expect(new Set(tokens).size).toBe(10_000)
  })
})

describe('a token that was tampered with', () => {
  const sealer = createSealer()

  test('does not open with any bit flipped', async () => {
    const bytes = Buffer.from(await sealer.seal({ a: 1 }, binding, { ttlMs }), 'base64url')
    const reasons = new Set<string>()
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      reasons.add(await why(sealer, changed.toString('base64url')))
    }
    // The first byte says how to read the others.
    expect(reasons).toEqual(new Set(['malformed', 'forged']))
  })

  test('does not open with any character replaced', async () => {
    const token = await sealer.seal({ a: 1 }, binding, { ttlMs })
    for (let place = 0; place < token.length; place++) {
      for (const other of ['A', '_', '=', '+', '\0', 'Ā']) {
        if (token[place] === other) continue
        const changed = token.slice(0, place) + other + token.slice(place + 1)
        expect(['malformed', 'forged']).toContain(await why(sealer, changed))
      }
    }
  })

  test('does not open when cut, on either side', async () => {
    const token = await sealer.seal({ a: 1 }, binding, { ttlMs })
    for (let place = 1; place < token.length; place++) {
      expect(['malformed', 'forged']).toContain(await why(sealer, token.slice(0, place)))
      expect(['malformed', 'forged']).toContain(await why(sealer, token.slice(place)))
    }
  })

  test.each([
    ['more at the end', (token: string) => `${token}AAAA`],
    ['padding', (token: string) => `${token}==`],
    ['a line break', (token: string) => `${token}\n`],
    ['itself again', (token: string) => token + token],
  ])('does not open with %s', async (_, change) => {
    const token = await sealer.seal({ a: 1 }, binding, { ttlMs })
    expect(['malformed', 'forged']).toContain(await why(sealer, change(token)))
  })

  test('does not open when it is anything else', async () => {
    expect(await why(sealer, '')).toBe('malformed')
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText(), fc.base64String({ maxLength: 400 })), async text => {
        expect(['malformed', 'forged']).toContain(await why(sealer, text))
      }),
    )
  })

  test.each([[undefined], [null], [1], [{}], [['x']]])(
    'does not open when it is %j',
    async value => {
      // The check: a caller in JavaScript may pass anything.
      expect(await why(sealer, value as unknown as string)).toBe('malformed')
    },
  )

  test('does not open with parts of two', async () => {
    const [a, b] = await Promise.all(
      [1, 2].map(async n => Buffer.from(await sealer.seal(n, binding, { ttlMs }), 'base64url')),
    )
    for (let place = 1; place < (a?.length ?? 0); place++) {
      const mixed = Buffer.concat([a?.subarray(0, place) ?? key(0), b?.subarray(place) ?? key(0)])
      if (b !== undefined && mixed.equals(b)) continue
      if (a !== undefined && mixed.equals(a)) continue
      expect(await why(sealer, mixed.toString('base64url'))).toBe('forged')
    }
  })
})

describe('keys', () => {
  test('a token opens wherever the key is', async () => {
    const [a, b] = [createSealer({ keys: [key(1)] }), createSealer({ keys: [key(1)] })]
    const token = await a.seal('x', binding, { ttlMs })
    expect(await b.open(token, binding)).toEqual({ ok: true, value: 'x' })
  })

  test('a token does not open with another key', async () => {
    const token = await createSealer({ keys: [key(1)] }).seal('x', binding, { ttlMs })
    expect(await why(createSealer({ keys: [key(2)] }), token)).toBe('forged')
  })

  test('two sealers made without keys do not open each other’s tokens', async () => {
    expect(await why(createSealer(), await createSealer().seal('x', binding, { ttlMs }))).toBe(
      'forged',
    )
  })

  test('after a change of keys the old one still opens, and the new one seals', async () => {
    const before = createSealer({ keys: [key(1)] })
    const during = createSealer({ keys: [key(2), key(1)] })
    const after = createSealer({ keys: [key(2)] })
    const old = await before.seal('old', binding, { ttlMs })
    const fresh = await during.seal('fresh', binding, { ttlMs })
    expect(await during.open(old, binding)).toEqual({ ok: true, value: 'old' })
    expect(await after.open(fresh, binding)).toEqual({ ok: true, value: 'fresh' })
    expect(await why(before, fresh)).toBe('forged')
    expect(await why(after, old)).toBe('forged')
  })

  test('every byte of a key counts, also of a long one', async () => {
    const long = key(1, 64)
    const other = key(1, 64)
    other[63] = 2
    const token = await createSealer({ keys: [long] }).seal('x', binding, { ttlMs })
    expect(await why(createSealer({ keys: [other] }), token)).toBe('forged')
    expect(await why(createSealer({ keys: [key(1, 32)] }), token)).toBe('forged')
  })

  test('clearing the array afterwards changes nothing', async () => {
    const secret = key(1)
    const sealer = createSealer({ keys: [secret] })
    secret.fill(0)
    const token = await sealer.seal('x', binding, { ttlMs })
    expect(await createSealer({ keys: [key(1)] }).open(token, binding)).toMatchObject({ ok: true })
  })

  test.each([
    ['none at all', [], 'must not be empty'],
    ['one of 31 bytes', [key(1, 31)], 'at least 32 bytes (got 31)'],
    ['a short one behind a good one', [key(1), key(2, 16)], 'at least 32 bytes (got 16)'],
    ['an empty one', [key(0, 0)], 'at least 32 bytes (got 0)'],
  ])('%s is refused', (_, keys, words) => {
    expect(() => createSealer({ keys })).toThrow(TypeError)
    expect(() => createSealer({ keys })).toThrow(words)
  })
})

describe('the binding', () => {
  const sealer = createSealer()
  const others: [string, SealBinding][] = [
    ['another purpose', { ...binding, purpose: 'task' }],
    ['another principal', { ...binding, principal: 'bob' }],
    ['no principal', { ...binding, principal: undefined }],
    ['an empty principal', { ...binding, principal: '' }],
    ['another method', { ...binding, method: 'prompts/get' }],
    ['another tool', { ...binding, params: { ...binding.params, name: 'delete' } }],
    [
      'another argument',
      { ...binding, params: { name: 'deploy', arguments: { env: 'test', count: 2 } } },
    ],
    [
      'an argument of another type',
      { ...binding, params: { name: 'deploy', arguments: { env: 'prod', count: '2' } } },
    ],
    ['one argument less', { ...binding, params: { name: 'deploy', arguments: { env: 'prod' } } }],
    ['one parameter more', { ...binding, params: { ...binding.params, extra: null } }],
    ['no params', { ...binding, params: undefined }],
    ['parts that were moved', { ...binding, purpose: 'requestState","alice', principal: '' }],
    ['params that are not JSON', { ...binding, params: { a: 1n } }],
    ['params that are too deep', { ...binding, params: { a: deep(1000) } }],
  ]

  test.each(others)('a token does not open for %s', async (_, other) => {
    const token = await sealer.seal('x', binding, { ttlMs })
    expect(await sealer.open(token, other)).toEqual({ ok: false, why: 'foreign' })
  })

  test('it includes neither what a retry changes nor the order of members', async () => {
    const token = await sealer.seal('x', binding, { ttlMs })
    const params = {
      requestState: token,
      inputResponses: { q: { action: 'accept' } },
      _meta: { progressToken: 7 },
      arguments: { count: 2, env: 'prod' },
      name: 'deploy',
    }
    expect(await sealer.open(token, { ...binding, params })).toEqual({ ok: true, value: 'x' })
  })

  test('only the request’s own fields are left out, not those inside of its arguments', async () => {
    const bound = (value: unknown) => ({ ...binding, params: { arguments: { _meta: value } } })
    const token = await sealer.seal('x', bound(1), { ttlMs })
    expect(await sealer.open(token, bound(2))).toEqual({ ok: false, why: 'foreign' })
  })

  test('no params are the same as empty ones', async () => {
    const token = await sealer.seal('x', { ...binding, params: undefined }, { ttlMs })
    expect(await sealer.open(token, { ...binding, params: { _meta: {} } })).toMatchObject({
      ok: true,
    })
  })

  test('params that are not JSON are refused', async () => {
    await expect(sealer.seal('x', { ...binding, params: { a: 1n } }, { ttlMs })).rejects.toThrow(
      TypeError,
    )
  })
})

describe('expiry', () => {
  test('a token opens until it expires', async () => {
    let now = 1_000_000
    const sealer = createSealer({ clock: { now: () => now } })
    const token = await sealer.seal('x', binding, { ttlMs: 500 })
    now += 499
    expect(await sealer.open(token, binding)).toEqual({ ok: true, value: 'x' })
    now += 1
    expect(await sealer.open(token, binding)).toEqual({ ok: false, why: 'expired' })
  })

  test('a token of another binding is reported as foreign, not as expired', async () => {
    let now = 0
    const sealer = createSealer({ clock: { now: () => now } })
    const token = await sealer.seal('x', binding, { ttlMs: 500 })
    now = 1_000
    expect(await why(sealer, token, { ...binding, principal: 'bob' })).toBe('foreign')
  })

  test.each([[0], [-1], [Number.NaN], [Number.POSITIVE_INFINITY]])(
    'a time of %s is refused',
    async bad => {
      await expect(createSealer().seal('x', binding, { ttlMs: bad })).rejects.toThrow(RangeError)
    },
  )
})

describe('bounds', () => {
  test('a token longer than allowed is neither made nor opened', async () => {
    const small = createSealer({ keys: [key(1)], maxLength: 200 })
    const large = createSealer({ keys: [key(1)] })
    const fits = 'x'.repeat(200 * 0.75 - 77 - 2)
    const token = await small.seal(fits, binding, { ttlMs })
    expect(token.length).toBe(200)
    expect(await small.open(token, binding)).toEqual({ ok: true, value: fits })
    await expect(small.seal(`${fits}x`, binding, { ttlMs })).rejects.toThrow(RangeError)
    const long = await large.seal(`${fits}x`, binding, { ttlMs })
    expect(await why(small, long)).toBe('malformed')
  })

  test.each([[undefined], [() => 1], [Symbol('x')], [1n]])('%s cannot be sealed', async value => {
    await expect(createSealer().seal(value, binding, { ttlMs })).rejects.toThrow(TypeError)
  })

  test('refusing a long text takes time in proportion to it, at most', () => {
    const sealer = createSealer({ maxLength: 10_000_000 })
    const ratio = growth(10_000, size => {
      void sealer.open(`AQ${'A'.repeat(size)}!`, binding)
    })
    expect(ratio).toBeLessThan(proportional)
  })
})

async function why(sealer: Sealer, token: string, bound = binding): Promise<string> {
  const opened = await sealer.open(token, bound)
  return opened.ok ? 'opened' : opened.why
}

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}
