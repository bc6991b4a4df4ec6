import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connect } from '../../connect.ts'
import { Server } from '../server.ts'
import { isInputPending } from './input-run.ts'

const question = { message: 'Which?', schema: z.object({ color: z.string() }) }
const elicit = () => ({ action: 'accept', content: { color: 'red' } }) as const

describe.each(['2025-11-25', '2026-07-28'] as const)(
  'a catch around a question in %s',
  revision => {
    async function ask(passesOn: boolean) {
      const reports: unknown[] = []
      const fallbacks: unknown[] = []
      await using server = new Server(
        { name: 'a', version: '1' },
        { onError: error => void reports.push(error) },
      )
      server.tool('paint', {}, async (_, ctx) => {
        try {
          return (await ctx.elicit(question)).color
        } catch (error) {
          if (passesOn && isInputPending(error)) throw error
          fallbacks.push(error)
          return 'white'
        }
      })
      await using client = await connect(server, { revisions: [revision], elicit })
      await using other = await connect(server, { revisions: [revision] })
      const answers = [await client.call('paint'), await other.call('paint')]
      return { answers: answers.map(answer => answer.text), reports, fallbacks }
    }

    test('throws on what ends the handler, and handles the rest', async () => {
      const { answers, reports, fallbacks } = await ask(true)
      expect(answers).toEqual(['red', 'white'])
      expect(fallbacks).toMatchObject([{ message: expect.stringContaining('capability') }])
      expect(reports).toEqual([])
    })

    test('is reported where the handler goes on', async () => {
      const { answers, reports, fallbacks } = await ask(false)
      expect(answers).toEqual(['red', 'white'])
      const isStateless = revision === '2026-07-28'
      expect(fallbacks).toHaveLength(isStateless ? 2 : 1)
      const warning = { name: 'Warning', message: expect.stringContaining('tools/call "paint"') }
      expect(reports).toMatchObject(isStateless ? [warning] : [])
    })
  },
)

test.each([
  ['another error', () => new Error('the printer is on fire'), 1],
  ['an error made of it', (cause: unknown) => new Error('no paint', { cause }), 0],
] as const)('a handler that throws %s instead', async (_, make, count) => {
  const reports: unknown[] = []
  await using server = new Server(
    { name: 'a', version: '1' },
    { onError: error => void reports.push(error) },
  )
  server.resource('paint', 'paint://color', {}, async ctx => {
    try {
      return (await ctx.elicit(question)).color
    } catch (error) {
      throw make(error)
    }
  })
  await using client = await connect(server, { elicit, revisions: ['2026-07-28'] })
  expect((await client.read('paint://color')).contents).toMatchObject([{ text: 'red' }])
  expect(reports).toHaveLength(count)
  for (const report of reports) {
    expect(report).toMatchObject({ message: expect.stringContaining('the printer is on fire') })
  }
})

test('other errors are not pending input', () => {
  for (const error of [new Error('no'), undefined, 'no']) expect(isInputPending(error)).toBe(false)
})
