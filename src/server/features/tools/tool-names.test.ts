import { expect, test, vi } from 'vitest'
import { connect } from '../../../connect.ts'
import { Server } from '../../server.ts'

const advice = 'Use 1 to 128 letters, digits, "_", "-" and ".".'

test.each([
  ['a space', 'get user', 'the name of the tool "get user" contains " ": clients can rely only on'],
  [
    'another script',
    'größe',
    'the name of the tool "größe" contains "ö": clients can rely only on',
  ],
  ['129 characters', 'x'.repeat(129), `…" is longer than 128 characters`],
])('a tool name with %s works, and its author gets one warning', async (_, name, words) => {
  const reported: unknown[] = []
  const onError = (error: unknown, message: unknown) => void reported.push(error, message)
  await using server = new Server({ name: 'a', version: '1' }, { onError })
  const registered = server.tool(name, {}, () => 'fine')
  registered.update({ description: 'changed' })
  await using client = await connect(server)
  expect(await client.call(name)).toMatchObject({ content: [{ text: 'fine' }] })
  expect(reported).toEqual([expect.objectContaining({ name: 'Warning' }), undefined])
  const [{ message }] = reported as [Error]
  expect(message).toContain(words)
  expect(message).toContain(advice)
})

test('recommended tool names, and names of prompts, get no warning', () => {
  const onError = vi.fn()
  const server = new Server({ name: 'a', version: '1' }, { onError })
  for (const name of ['a', 'git/commit', 'x'.repeat(128)]) server.tool(name, {}, () => '')
  server.prompt('a prompt', {}, () => '')
  expect(onError).not.toHaveBeenCalled()
})

test('without onError the warning is one line on stderr', () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  try {
    new Server({ name: 'a', version: '1' }).tool('a b', {}, () => '')
    expect(printed.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^trunkline: warning: the name of the tool "a b" contains " "[^\n]+$/,
        ),
      ],
    ])
  } finally {
    printed.mockRestore()
  }
})

test('a tool that cannot be registered gets no warning besides its error', () => {
  const onError = vi.fn()
  const server = new Server({ name: 'a', version: '1' }, { onError })
  server.tool('a b', {}, () => '')
  expect(() => server.tool('a b', {}, () => '')).toThrow('duplicate tool "a b"')
  expect(onError).toHaveBeenCalledTimes(1)
})
