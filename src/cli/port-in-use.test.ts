import { expect, test } from 'vitest'
import { listen } from '../listen.ts'
import { inUseHint } from './port-in-use.ts'

const cases: readonly (readonly [string, (port: number) => string[], (port: number) => string])[] =
  [
    ['an option', port => ['up', '--http', `${port}`], port => `up --http ${port}`],
    [
      'an address',
      port => ['up', '--listen', `http://127.0.0.1:${port}/mcp`, 'a b.json'],
      port => `up --listen http://127.0.0.1:${port}/mcp 'a b.json'`,
    ],
    ['the file', () => ['up'], port => `up --listen http://127.0.0.1:${port}/mcp`],
    [
      'nothing before the program',
      () => ['serve', 'a.js', '--', 'x'],
      port => `serve a.js http://127.0.0.1:${port}/mcp -- x`,
    ],
  ]

test.each(cases)(
  'shows the command with a free port instead of that of %s',
  async (_, argv, expected) => {
    await using taken = await listen({}, 'http://127.0.0.1:0/mcp', { protocol: 'jsonrpc' })
    const port = Number(new URL(taken.address).port)
    const message = `listening on ${taken.address}: already in use`
    const hint = await inUseHint(message, argv(port), 'npx trunkline')
    const [, free] = /(\d+)(?:\/mcp)?(?: |$)/.exec(hint.split('port:')[1] ?? '') ?? []
    expect(Number(free)).toBeGreaterThan(port)
    expect(hint).toBe(
      `stop the other program, or use another port: npx trunkline ${expected(Number(free))}`,
    )
  },
)

test('says something else about an address without a port', async () => {
  const message = 'listening on unix:/tmp/a: already in use'
  expect(await inUseHint(message, ['up'], 'trunkline')).toBe(
    'stop the other program, or choose another address',
  )
})
