import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { limits } from '../../util/limits/limits.ts'
import { Authority, questions } from './authority.ts'
import { factsText } from './peer-node.ts'
import { PeerNodes } from './peer-nodes.ts'

const leaseMs = 10_000

function setUp(answers: Readonly<Record<string, string>>, servesWhenDown = true) {
  const clock = fakeClock()
  const lease = { isHeld: true, reachableMs: 0 }
  const members = new PeerNodes('own', leaseMs)
  const factsOf = (address: string) =>
    factsText({ name: '', address, path: '', version: '', state: 'up', startedAt: '' })
  members.apply(
    {
      changed: Object.keys(answers).map(node => ({
        node,
        facts: factsOf(node),
        isAlive: true,
        silentMs: 0,
      })),
      isComplete: true,
    },
    0,
  )
  const links = {
    request: async ({ node }: { readonly node: string }) => {
      const answer = answers[node]
      if (answer === undefined || answer === '') throw new Error('no answer')
      return answer
    },
    probe: async (address: string) =>
      address === 'gone' ? ('refuses' as const) : ('silent' as const),
  }
  const authority = new Authority({ lease, members, links, leaseMs, servesWhenDown, clock })
  return { clock, lease, authority }
}

describe('Authority', () => {
  test('a node acts while its lease holds', async () => {
    const { lease, authority } = setUp({ a: 'yes' })
    expect(authority.mayAct).toBe(true)
    lease.isHeld = false
    expect(authority.mayAct).toBe(false)
    expect(authority.answer(questions.status)).toBe('suspended')
  })

  test('without a lease it acts for a while if nobody can adopt its sessions', async () => {
    const { clock, lease, authority } = setUp({ a: 'no', b: 'no' })
    lease.isHeld = false
    await authority.askOthers()
    expect(authority.mayAct).toBe(true)
    expect(authority.answer(questions.status)).toBe('active')
    clock.advance(limits.permissionMs.default)
    expect(authority.mayAct).toBe(false)
  })

  test.each([
    { a: 'no', b: 'yes' },
    { a: 'no', b: '' },
  ])('it is suspended if one can, or does not answer', async answers => {
    const { lease, authority } = setUp(answers)
    lease.isHeld = false
    await authority.askOthers()
    expect(authority.mayAct).toBe(false)
  })

  test('a process that has ended adopts nothing', async () => {
    const { lease, authority } = setUp({ a: 'no', gone: '' })
    lease.isHeld = false
    await authority.askOthers()
    expect(authority.mayAct).toBe(true)
  })

  test('it is suspended without a lease if it was told to refuse', async () => {
    const { lease, authority } = setUp({}, false)
    lease.isHeld = false
    await authority.askOthers()
    expect(authority.mayAct).toBe(false)
  })

  test('a node adopts after it has reached the engine for a whole lease, and says so before', () => {
    const { lease, authority } = setUp({})
    expect([authority.mayAdopt, authority.answer(questions.mayAdopt)]).toEqual([false, 'no'])
    lease.reachableMs = leaseMs - 1
    expect([authority.mayAdopt, authority.answer(questions.mayAdopt)]).toEqual([false, 'yes'])
    lease.reachableMs = leaseMs
    expect(authority.mayAdopt).toBe(true)
  })

  test('an unknown question has no answer', () => {
    expect(setUp({}).authority.answer('?')).toBeUndefined()
  })
})
