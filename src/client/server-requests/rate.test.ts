import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import {
  type Answer,
  allRevisions,
  type Loose,
  serverOf,
} from '../../../test/support/scripted-server.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { openClient } from '../client.ts'

const form = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }
const wish = { messages: [], maxTokens: 9 }

/** A tool that sends one server request per call. */
function asking(revision: string, method: string, params: object) {
  const stateless: Answer = ({ inputResponses }) =>
    inputResponses === undefined
      ? { resultType: 'input_required', inputRequests: { q: { method, params } } }
      : { content: [] }
  const session: Answer = async (_, { exchange }) => {
    await exchange.back?.call(method, params)
    return { content: [] }
  }
  return serverOf(revision, { 'tools/call': revision === '2026-07-28' ? stateless : session })
}

const cases = allRevisions.flatMap(revision =>
  [
    ['sampling/createMessage', wish] as const,
    ...(revision >= '2025-06-18' ? [['elicitation/create', form] as const] : []),
  ].map(([method, params]) => [method, revision, params] as const),
)

describe('server requests', () => {
  it.each(cases)('by %s in %s can be limited per minute', async (method, revision, params) => {
    proves('C2k', 'C5k')
    const clock = fakeClock()
    let handled = 0
    const server = asking(revision, method, params)
    await using client = await openClient(server.dial, {
      clock,
      onError: () => {},
      serverRequestsPerMinute: 2,
      elicit: () => {
        handled++
        return { action: 'accept', content: {} }
      },
      sample: () => {
        handled++
        return { role: 'assistant', content: { type: 'text', text: '' }, model: 'tiny' }
      },
    })
    await client.call('x')
    clock.advance(30_000)
    await client.call('x')
    const error: Loose = await client.call('x').catch(e => e)
    expect((error.cause ?? error).message).toMatch(/rate limit/i)
    expect(handled).toBe(2)
    clock.advance(30_001)
    await client.call('x')
    await expect(client.call('x')).rejects.toThrow()
    expect(handled).toBe(3)
  })

  it('for roots are never limited, and others only by the option', async () => {
    const roots = asking('2025-11-25', 'roots/list', {})
    await using client = await openClient(roots.dial, {
      onError: () => {},
      roots: [],
      serverRequestsPerMinute: 1,
    })
    for (let i = 0; i < 5; i++) await client.call('x')
    const wishes = asking('2025-11-25', 'sampling/createMessage', wish)
    await using other = await openClient(wishes.dial, {
      onError: () => {},
      sample: () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'tiny' }),
    })
    for (let i = 0; i < 100; i++) await other.call('x')
  })
})
