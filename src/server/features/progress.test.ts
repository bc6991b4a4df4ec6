import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { allRevisions, answeringClient, stateless } from '../../../test/support/answering-client.ts'
import { turn } from '../../../test/support/wire.ts'
import { revisions } from '../../mcp/revisions/revisions.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Context } from '../context.ts'
import { Server } from '../server.ts'
import { ProgressReporter } from './progress.ts'

/** A tool that reports as the test says, and a client that calls it with a token. */
async function reported(
  revision: (typeof allRevisions)[number],
  token: unknown,
  work: (context: Context) => unknown,
) {
  const server = new Server({ name: 'test', version: '1' })
  server.tool('work', {}, async (_, context) => {
    await work(context)
    return 'done'
  })
  const client = await answeringClient(server, revision)
  const reply = await client.request('tools/call', {
    name: 'work',
    _meta: { progressToken: token },
  })
  await turn()
  const all = client.received().filter(({ method }) => method === 'notifications/progress')
  return { reply, all: all.map(({ params }) => params) }
}

describe.each(allRevisions)('progress in %s', revision => {
  it('always grows', async () => {
    proves('U5c')
    const values = [2, 1, 2, 2.5, Number.NaN, Number.POSITIVE_INFINITY, 3]
    const grown = await reported(revision, 't', context => {
      for (const value of values) context.progress(value, Number.NaN)
    })
    expect(grown.all).toEqual([2, 2.5, 3].map(progress => ({ progressToken: 't', progress })))
  })

  it.each([0, '', 7, 'seven'])('is sent under the token %j', async token => {
    proves('U5', 'U5d')
    const { all } = await reported(revision, token, context => context.progress(1, 2, 'half'))
    const hasWords = revision !== '2024-11-05'
    expect(all).toEqual([
      { progressToken: token, progress: 1, total: 2, ...(hasWords && { message: 'half' }) },
    ])
  })

  it('is sent to no client without a token, and never after the response', async () => {
    proves('U5d', 'U5e')
    expect((await reported(revision, undefined, context => context.progress(1))).all).toEqual([])
    const { all } = await reported(revision, 't', context => {
      context.progress(1)
      setImmediate(() => context.progress(2))
    })
    await turn()
    expect(all).toHaveLength(1)
  })

  it('is limited in number, but completion is always sent', async () => {
    proves('U5g')
    const count = limits.progressBurst.default * 3
    const { all } = await reported(revision, 't', context => {
      for (let n = 1; n <= count; n++) context.progress(n, count)
    })
    expect(all.length).toBeLessThan(count / 2)
    expect(all.at(-1)).toMatchObject({ progress: count, total: count })
  })
})

it.each([1.5, {}, null, true])('the token %j is none', async token => {
  proves('U5')
  expect((await reported('2025-11-25', token, context => context.progress(1))).all).toEqual([])
  expect(
    (await reported(stateless, token, context => context.progress(1))).reply.error,
  ).toMatchObject({
    code: -32602,
  })
})

it('after a burst, progress comes so many times a second', () => {
  proves('U5g')
  let now = 0
  const sent: unknown[] = []
  const revision = revisions.at(-1)
  if (revision === undefined) throw new Error('there are no revisions')
  const progress = new ProgressReporter(
    {
      method: 'tools/call',
      id: 1,
      params: { _meta: { progressToken: 1 } },
      caller: { revision, capabilities: {} },
      session: undefined,
      exchange: {
        signal: new AbortController().signal,
        envelope: {},
        notify: (_, params) => void sent.push(params),
      },
    },
    () => now,
  )
  for (let n = 0; n < 1000; n++) progress.send(n, undefined, undefined)
  expect(sent).toHaveLength(limits.progressBurst.default)
  now += 1000
  for (let n = 1000; n < 2000; n++) progress.send(n, undefined, undefined)
  expect(sent).toHaveLength(limits.progressBurst.default + limits.progressPerSecond.default)
})
