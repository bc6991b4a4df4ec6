import { afterEach, describe, expect, test, vi } from 'vitest'
import { memory } from '../backplane/memory/memory.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createSealer } from '../util/crypto/seal.ts'
import { limits } from '../util/limits/limits.ts'
import { sharedKeys } from './keys.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const one of open.splice(0).reverse()) await one.close()
})

const secret = 'a secret of a cluster, for this test'
const binding = { purpose: 'test', method: 'x' }
const ttlMs = 60_000

async function nodes(count: number) {
  const backplane = memory()
  open.push(backplane)
  const clock = fakeClock()
  const rings = []
  for (let at = 0; at < count; at++) rings.push(await sharedKeys(backplane, { secret, clock }))
  open.push(...rings)
  const sealers = rings.map(keys => createSealer({ keys }))
  return { backplane, clock, rings, sealers }
}

describe('the keys of a cluster', () => {
  test('open on every node what one has sealed, also after a rotation', async () => {
    const { rings, sealers } = await nodes(2)
    const [first, second] = sealers
    const before = await first?.seal({ n: 1 }, binding, { ttlMs })
    await rings[1]?.rotate()
    await expect.poll(() => rings.map(({ generation }) => generation)).toEqual([1, 1])
    const after = await second?.seal({ n: 2 }, binding, { ttlMs })
    for (const sealer of sealers) {
      expect(await sealer.open(before ?? '', binding)).toEqual({ ok: true, value: { n: 1 } })
      expect(await sealer.open(after ?? '', binding)).toEqual({ ok: true, value: { n: 2 } })
    }
    await rings[0]?.rotate()
    await expect.poll(() => rings.map(({ generation }) => generation)).toEqual([2, 2])
    // The key has been replaced twice since.
    expect(await second?.open(before ?? '', binding)).toEqual({ ok: false, why: 'forged' })
  })

  test('open what a node has sealed that learned of a rotation first', async () => {
    const { backplane, rings, sealers } = await nodes(2)
    const { store } = backplane
    vi.spyOn(backplane.bus, 'publish').mockImplementation(() => {})
    await rings[1]?.rotate()
    expect(rings.map(({ generation }) => generation)).toEqual([0, 1])
    const sealed = await sealers[1]?.seal('new', binding, { ttlMs })
    expect(await sealers[0]?.open(sealed ?? '', binding)).toMatchObject({ ok: true })
    expect(await store.get('sealing keys')).toBeDefined()
  })

  test('are rotated every keyRotationMs, by one node', async () => {
    const { clock, rings } = await nodes(2)
    const now = Date.now()
    vi.spyOn(Date, 'now').mockReturnValue(now + limits.keyRotationMs.default)
    clock.advance(limits.keyCheckMs.default)
    await expect.poll(() => rings.map(({ generation }) => generation)).toEqual([1, 1])
  })

  test('stay the same if the engine forgets them', async () => {
    const { backplane, rings, clock } = await nodes(1)
    await rings[0]?.rotate()
    await backplane.store.delete('sealing keys')
    const late = await sharedKeys(backplane, { secret, clock })
    open.push(late)
    expect(late.generation).toBe(0)
    clock.advance(limits.keyCheckMs.default)
    await expect.poll(() => [rings[0]?.generation, late.generation]).toEqual([1, 1])
  })

  test('differ with another secret', async () => {
    const { backplane, sealers } = await nodes(1)
    const other = await sharedKeys(backplane, { secret: `${secret}!` })
    open.push(other)
    const sealed = await sealers[0]?.seal('x', binding, { ttlMs })
    expect(await createSealer({ keys: other }).open(sealed ?? '', binding)).toMatchObject({
      why: 'forged',
    })
  })
})
