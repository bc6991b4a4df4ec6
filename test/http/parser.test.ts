import { expect, test } from 'vitest'
import type { Asking } from './raw.ts'
import { calling, inSession, opening, speaking } from './requests.ts'
import { type Served, serve } from './served.ts'

/** Requests that both parsers accept, each built for an open session. */
const requests: readonly (readonly [string, (session: string) => Asking])[] = [
  ['a stateless request', () => speaking('tools/list')],
  ['a stateless call with progress', () => calling('steps', {}, { meta: { progressToken: 'p' } })],
  ['a call of a tool that does not exist', () => calling('nothing')],
  ['an initialize', () => opening()],
  ['a ping in a session', session => inSession(session, 'ping', {}, 1)],
  ['a notification in a session', session => inSession(session, 'notifications/initialized')],
  ['a request in an unknown session', () => inSession('unknown', 'ping', {}, 1)],
  [
    'the end of a session',
    session => ({ method: 'DELETE', headers: { 'mcp-session-id': session } }),
  ],
  ['another path', () => ({ ...speaking('tools/list'), path: '/other' })],
  ['another method', () => ({ method: 'PUT' })],
  ['a preflight', () => ({ method: 'OPTIONS' })],
  ['a body that is not JSON', () => ({ ...speaking('tools/list'), body: '{' })],
  ['another origin', () => speaking('tools/list', {}, { headers: { origin: 'http://evil.test' } })],
]

/** Returns the response without the parts that differ between servers or sessions. */
async function responseOf(served: Served, request: (session: string) => Asking) {
  const { status, headers, text } = await served.ask(request(await served.session()))
  const names = ['content-type', 'allow', 'retry-after', 'access-control-allow-methods']
  const chosen = names.map(name => headers.get(name))
  return {
    status,
    chosen,
    hasSession: headers.has('mcp-session-id'),
    text: text.replace(/^id: .*$/gm, 'id'),
  }
}

test.each(requests)('%s gets the same response with either parser', async (_, request) => {
  const fast = await responseOf(await serve({ http: { parser: 'fast' } }), request)
  const node = await responseOf(await serve({ http: { parser: 'node' } }), request)
  expect(node).toEqual(fast)
})

test('an unknown parser is rejected by listen', async () => {
  const parser = 'quick' as 'fast'
  await expect(serve({ http: { parser } })).rejects.toThrow(
    new TypeError('option "http.parser" must be "fast" or "node" (got "quick")'),
  )
})
