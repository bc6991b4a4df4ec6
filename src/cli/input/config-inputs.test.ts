import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { answersTo } from './config-inputs.ts'

test('asks for inputs; a password is not shown, and an empty line is the default', async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const lines = ['ada', 's3cret', '', 'b']
  let shown = ''
  output.on('data', (chunk: Buffer) => {
    shown += chunk
    // Each prompt ends with a colon.
    if (String(chunk).endsWith(': ')) input.write(`${lines.shift()}\n`)
  })
  const streams = { input, output, signal: new AbortController().signal, onInterrupt: () => {} }
  const answers = await answersTo(
    [
      { id: 'user', variable: 'INPUT_USER', description: 'User', password: false },
      { id: 'key', variable: 'INPUT_KEY', password: true },
      { id: 'region', variable: 'INPUT_REGION', password: false, default: 'eu' },
      { id: 'kind', variable: 'INPUT_KIND', password: false, options: ['a', 'b'] },
    ],
    streams,
  )
  expect([...answers]).toEqual([
    ['user', 'ada'],
    ['key', 's3cret'],
    ['region', 'eu'],
    ['kind', 'b'],
  ])
  expect(shown).toContain('User: ')
  expect(shown).toContain('region {eu}: ')
  expect(shown).toContain('kind [a, b]: ')
  expect(shown).not.toContain('s3cret')
  output.end()
  await text(output)
})
