import { describe, expect, test } from 'vitest'
import type { Exchange } from '../jsonrpc/handler.ts'
import { Peer } from '../jsonrpc/peer/peer.ts'
import { type Conversation, converse } from './conversation.ts'
import { fakeClock } from './fake-clock.ts'
import { type PlayOptions, play } from './play.ts'
import { rewrite } from './rewrite.ts'
import { readTranscript } from './transcript.ts'

const answers = {
  ping: () => ({}),
  echo: (params: object) => params,
  sum: (...numbers: number[]) => numbers.reduce((total, number) => total + number, 0),
  pages: ({ cursor }: { cursor?: string }) =>
    cursor === undefined ? { items: [1, 2], next: 'p2' } : { items: [cursor] },
  both: (_: object, exchange: Exchange) => {
    void exchange.notify('event', { n: 1 })
    void exchange.notify('event', { n: 2 })
    return { done: true }
  },
  ask: async (_: object, { back }: Exchange) => ({ answer: await back?.call('ask', {}) }),
  silent: () => new Promise<never>(() => {}),
}

const cancellation = { method: 'cancel', member: 'id' }

async function open(): Promise<Conversation> {
  const [channel, conversation] = converse()
  new Peer(channel, answers, { cancellation, onError: () => {} })
  return conversation
}

const run = (text: string, options?: PlayOptions) => play(readTranscript(text), open, options)

describe('a conversation that matches its transcript', () => {
  const cases = [
    ['a call', '> {"id":1,"method":"sum","params":[1,2]}\n< {"id":1,"result":3}'],
    ['a notification, answered by nothing', '> {"method":"sum","params":[1,2]}'],
    ['an error', '> {"id":1,"method":"no"}\n< {"id":1,"error":{"code":-32601,"message":…}}'],
    [
      'a name that goes back',
      `> {"id":1,"method":"pages","params":{}}
< {"id":1,"result":{"items":[1,…],"next":"$next"}}
> {"id":2,"method":"pages","params":{"cursor":"$next"}}
< {"id":2,"result":{"items":["$next"]}}`,
    ],
    [
      'messages before the answer',
      `> {"id":1,"method":"both","params":{}}
< {"method":"event","params":{"n":1}}
< {"method":"event","params":{"n":2}}
< {"id":1,"result":{…}}`,
    ],
    [
      'messages in any order',
      `> {"id":1,"method":"both","params":{}}
<~ {"id":1,"result":{…}}
<~ {"method":"event","params":{"n":2}}
<~ {"method":"event","params":{"n":1}}`,
    ],
    [
      'a request of the server',
      `> {"id":1,"method":"ask","params":{}}
< {"id":"$asked","method":"ask","params":{}}
> {"id":"$asked","result":"yes"}
< {"id":1,"result":{"answer":"yes"}}`,
    ],
    [
      'a request that is given up',
      `> {"id":1,"method":"silent"}
> {"method":"cancel","params":{"id":1}}
> {"id":2,"method":"sum","params":[]}
< {"id":2,"result":0}`,
    ],
    [
      'a batch',
      `> [{"id":1,"method":"sum","params":[1]},{"method":"sum"},{"id":2,"method":"sum","params":[2]}]
< [{"id":1,"result":1},{"id":2,"result":2}]`,
    ],
    [
      'text that is not JSON',
      '>! {"id":1\n< {"id":null,"error":{"code":-32700,"message":"Parse error"}}',
    ],
    [
      'a message without its version',
      '>! {"id":1,"method":"sum"}\n< {"id":1,"error":{"code":-32600,…}}',
    ],
    [
      'a big number',
      `> {"id":9007199254740993,"method":"sum","params":[]}
< {"id":9007199254740993,"result":0}`,
    ],
    [
      'metadata for every request',
      `serve: x
meta: {"v":"1","w":2}
> {"id":1,"method":"echo"}
< {"id":1,"result":{"_meta":{"v":"1","w":2}}}
> {"id":2,"method":"echo","params":{"a":1,"_meta":{"v":"2"}}}
< {"id":2,"result":{"a":1,"_meta":{"v":"2","w":2}}}
> {"id":3,"method":"sum","params":[1]}
< {"id":3,"result":1}`,
    ],
    [
      'an ellipsis in what is sent is a character',
      '> {"id":1,"method":"echo","params":{"a":"so…"}}\n< {"id":1,"result":{"a":"so\\u2026"}}',
    ],
  ] as const

  test.each(cases)('%s', async (_, text) => {
    await run(text)
  })

  test('names may have initial values', async () => {
    const text =
      '> {"id":1,"method":"echo","params":{"v":"$revision"}}\n< {"id":1,"result":{"v":"r1"}}'
    await run(text, { names: { revision: 'r1' } })
  })
})

describe('a conversation that differs from its transcript', () => {
  const call = '> {"id":1,"method":"sum","params":[1,2]}\n'
  const cases = [
    ['another result', `${call}< {"id":1,"result":4}`, 'line 2: result is 3, expected 4'],
    ['another version', `${call}< {"jsonrpc":"1","id":1,"result":3}`, 'line 2: jsonrpc is "2.0"'],
    ['an answer too many', call, 'unexpected message at the end: {"jsonrpc":"2.0","id":1'],
    [
      'those in any order that do not fit',
      `${call}${call.replace('1', '2')}<~ {"id":2,"result":3}\n<~ {"id":3,"result":3}`,
      'line 3: the received messages do not match in any order:\n  < {"id":1,"result":3}',
    ],
    [
      'a name without a meaning',
      '> {"id":"$x","method":"sum"}',
      'line 1: the name $x has no value yet',
    ],
    [
      'something left open',
      '> {"id":1,…}',
      'line 1: a message to send must not contain placeholders',
    ],
    ['an open list', '> [1,…]', 'line 1: a message to send must not contain placeholders'],
    ['any value', '> {"id":…}', 'line 1: a message to send must not contain placeholders'],
  ] as const

  test.each(cases)('%s', async (_, text, message) => {
    await expect(run(text)).rejects.toThrow(message)
  })

  test('a missing response times out', async () => {
    const clock = fakeClock()
    const text = '> {"id":1,"method":"silent"}\n< {"id":1,…}'
    const playing = run(text, { clock, timeoutMs: 50 })
    const outcome = expect(playing).rejects.toThrow(
      'line 2: nothing received within 50 ms, expected {"id":1,…}',
    )
    await expect.poll(() => clock.pending).toBe(1)
    clock.advance(50)
    await outcome
  })

  test('a connection that ends', async () => {
    const [channel, conversation] = converse()
    channel.open({ receive: () => void channel.close(), closed: () => {} })
    const playing = play(readTranscript('> {"method":"a"}\n< {"id":1}'), async () => conversation)
    await expect(playing).rejects.toThrow('line 2: the connection closed, expected {"id":1}')
  })

  test('something that is not JSON', async () => {
    const conversation = { send: () => {}, next: async () => 'oops', close: () => {} }
    const playing = play(readTranscript('> {"method":"a"}\n< {"id":1}'), async () => conversation)
    await expect(playing).rejects.toThrow('line 2: received text is not JSON: oops')
  })
})

test('the connection is closed in every case', async () => {
  const closed: string[] = []
  const opening = (name: string) => async (): Promise<Conversation> => {
    const conversation = await open()
    return { ...conversation, close: () => void closed.push(name) }
  }
  await play(readTranscript('> {"method":"a"}'), opening('good'))
  const silent = play(readTranscript('< {"method":"a"}'), opening('bad'), { timeoutMs: 0 })
  await expect(silent).rejects.toThrow('nothing received')
  await rewrite(readTranscript('> {"method":"a"}'), opening('rewritten'))
  expect(closed).toEqual(['good', 'bad', 'rewritten'])
})

describe('rewriting', () => {
  const written = async (text: string) => rewrite(readTranscript(text), open, { timeoutMs: 50 })

  test('leaves a matching transcript unchanged', async () => {
    const text = `Prose.

serve: x
# A comment.
> {"id":1, "method":"pages",
   "params":{}}
< {"id":1, "result":{
     "items":[ 1, … ], "next":"$next"}}

> {"id":2,"method":"both","params":{}}
<~ {"id":2,"result":…}
# Another.
<~ {"method":"event","params":{"n":…}}
<~ {"method":"event","params":{"n":…}}
`
    expect(await written(text)).toBe(text)
  })

  const cases = [
    [
      'corrects what does not fit and keeps the signs that do',
      '> {"id":1,"method":"pages","params":{}}\n< {"id":1,"result":{"items":[…],"next":"$n","old":1}}\n',
      '> {"id":1,"method":"pages","params":{}}\n< {"id":1,"result":{"items":[…],"next":"$n"}}\n',
    ],
    [
      'adds the messages that are missing',
      '> {"id":1,"method":"sum","params":[1]}\n\n> {"id":2,"method":"both","params":{}}\n',
      `> {"id":1,"method":"sum","params":[1]}
< {"id":1,"result":1}

> {"id":2,"method":"both","params":{}}
< {"method":"event","params":{"n":1}}
< {"method":"event","params":{"n":2}}
< {"id":2,"result":{"done":true}}
`,
    ],
    [
      'adds what comes besides',
      '> {"id":1,"method":"both","params":{}}\n< {"method":"event","params":{"n":1}}\n# End.\n',
      `> {"id":1,"method":"both","params":{}}
< {"method":"event","params":{"n":1}}
< {"method":"event","params":{"n":2}}
< {"id":1,"result":{"done":true}}
# End.
`,
    ],
    [
      'drops what does not come',
      '> {"id":1,"method":"sum","params":[1]}\n< {"id":1,"result":…}\n< {"method":"event"}\n',
      '> {"id":1,"method":"sum","params":[1]}\n< {"id":1,"result":…}\n',
    ],
    [
      'gives each line of those in any order the message it fits',
      `> {"id":1,"method":"both","params":{}}
<~ {"id":1,"result":{…}}
<~ {"method":"event","params":{"n":3}}
<~ {"method":"event","params":{"n":1,…}}
`,
      `> {"id":1,"method":"both","params":{}}
<~ {"method":"event","params":{"n":1,…}}
<~ {"method":"event","params":{"n":2}}
<~ {"id":1,"result":{…}}
`,
    ],
    [
      'goes on with the names of what really came',
      `> {"id":1,"method":"pages","params":{}}
< {"id":1,"result":{"items":[],"next":"$n"}}
> {"id":2,"method":"pages","params":{"cursor":"$n"}}
< {"id":2,"result":{"items":["$n"],"more":1}}
`,
      `> {"id":1,"method":"pages","params":{}}
< {"id":1,"result":{"items":[1,2],"next":"$n"}}
> {"id":2,"method":"pages","params":{"cursor":"$n"}}
< {"id":2,"result":{"items":["$n"]}}
`,
    ],
  ] as const

  test.each(cases)('%s', async (_, text, expected) => {
    const result = await written(text)
    expect(result).toBe(expected)
    await run(result)
  })
})
