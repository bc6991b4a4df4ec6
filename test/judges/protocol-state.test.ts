import { describe, expect, it, onTestFinished } from 'vitest'
import { ChannelError } from '../../src/jsonrpc/channel.ts'
import type { Handler, Method } from '../../src/jsonrpc/handler.ts'
import type { PeerOptions } from '../../src/jsonrpc/peer/options.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import type { Raw } from './raw.ts'
import { type Wire, wires } from './wires.ts'

/** One of our peers and the raw other end of its connection. */
async function talk(
  wire: Wire,
  answers: Handler | Readonly<Record<string, Method>> = {},
  options: PeerOptions = {},
): Promise<{ readonly peer: Peer; readonly raw: Raw }> {
  let made: (peer: Peer) => void = () => {}
  const attached = new Promise<Peer>(resolve => {
    made = resolve
  })
  const served = await wire.serve(channel =>
    made(new Peer(channel, answers, { onError: () => {}, ...options })),
  )
  const raw = await served.connect()
  const peer = await attached
  onTestFinished(async () => {
    await peer.close({ drainMs: 0 })
    raw.close()
    await served.end()
  })
  return { peer, raw }
}

interface Sent {
  readonly id: number
  readonly method: string
}

async function nextCall(raw: Raw): Promise<Sent> {
  return JSON.parse(await raw.next()) as Sent
}

async function nextReply(raw: Raw): Promise<unknown> {
  return JSON.parse(await raw.next())
}

const result = (id: unknown, value: unknown) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(value)}}`
const request = (id: unknown, method: string) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}"}`

describe.each(wires)('the caller over $name', wire => {
  it('accepts the first of two replies to one call', async () => {
    const strays: string[] = []
    const { peer, raw } = await talk(wire, {}, { onStray: (_, why) => strays.push(why) })
    const call = peer.call('a')
    const { id } = await nextCall(raw)
    raw.send(result(id, 'first'))
    raw.send(result(id, 'second'))
    expect(await call).toBe('first')
    expect(await answered(peer, raw)).toBe('still here')
    expect(strays).toEqual(['duplicate'])
  })

  const strangers = [
    { name: 'an id never given out', reply: result(4711, 1) },
    { name: 'the text of an id', reply: result('1', 1) },
    { name: 'an id beyond 2^53', reply: '{"jsonrpc":"2.0","id":9007199254740993,"result":1}' },
    { name: 'the id null', reply: result(null, 1) },
    {
      name: 'a bad reply for an id never given out',
      reply: '{"jsonrpc":"2.0","id":99,"result":1,"error":1}',
    },
  ]
  it.each(strangers)('continues to wait when a reply has $name', async ({ reply }) => {
    const { peer, raw } = await talk(wire)
    const call = peer.call('a')
    const { id } = await nextCall(raw)
    expect(id).toBe(1)
    raw.send(reply)
    raw.send(result(id, 'mine'))
    expect(await call).toBe('mine')
    expect(await answered(peer, raw)).toBe('still here')
  })

  it('attributes an unreadable message to the only pending call, and no other error', async () => {
    const { peer, raw } = await talk(wire)
    const call = peer.call('a')
    const outcome = expect(call).rejects.toMatchObject({ code: -32700 })
    await nextCall(raw)
    raw.send('{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}')
    raw.send('{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}')
    await outcome
    expect(await answered(peer, raw)).toBe('still here')
  })

  it('accepts an id in another spelling of the same number', async () => {
    const { peer, raw } = await talk(wire)
    const call = peer.call('a')
    const { id } = await nextCall(raw)
    raw.send(`{"jsonrpc":"2.0","id":${id}.0,"result":true}`)
    expect(await call).toBe(true)
  })

  it('ignores a reply to a call on another connection', async () => {
    const [one, two] = [await talk(wire), await talk(wire)]
    const calls = [one.peer.call('a'), two.peer.call('a'), two.peer.call('b')]
    await nextCall(one.raw)
    await nextCall(two.raw)
    const { id } = await nextCall(two.raw)
    one.raw.send(result(id, 'astray'))
    one.raw.send(result(1, 'one'))
    two.raw.send(result(1, 'two'))
    two.raw.send(result(2, 'b'))
    expect(await Promise.all(calls)).toEqual(['one', 'two', 'b'])
  })

  const broken = [
    { name: 'both result and error', rest: '"result":1,"error":{"code":1,"message":"x"}' },
    { name: 'an error that is none', rest: '"error":"x"' },
    { name: 'an error without a message', rest: '"error":{"code":1}' },
    { name: 'the result twice', rest: '"result":1,"result":2' },
  ]
  it.each(broken)('rejects on a reply with $name', async ({ rest }) => {
    const { peer, raw } = await talk(wire)
    const call = peer.call('a')
    const { id } = await nextCall(raw)
    raw.send(`{"jsonrpc":"2.0","id":${id},${rest}}`)
    await expect(call).rejects.toBeInstanceOf(ChannelError)
    expect(await answered(peer, raw)).toBe('still here')
  })

  it('finds its replies in batches, in any order and among requests', async () => {
    const { peer, raw } = await talk(wire, { ping: () => 'pong' })
    const calls = Promise.all([peer.call('a'), peer.call('b'), peer.call('c')])
    for (let i = 0; i < 3; i++) await nextCall(raw)
    raw.send(`[${result(3, 'c')},${request(1, 'ping')},${result(1, 'a')}]`)
    raw.send(`[${result(2, 'b')}]`)
    expect(await calls).toEqual(['a', 'b', 'c'])
    expect(await nextReply(raw)).toEqual([{ jsonrpc: '2.0', id: 1, result: 'pong' }])
  })

  it('accepts replies to a batch as single messages', async () => {
    const { peer, raw } = await talk(wire)
    const batch = peer.batch(b => [b.call('a'), b.call('b')])
    expect(JSON.parse(await raw.next())).toHaveLength(2)
    raw.send(result(2, 'b'))
    raw.send(result(1, 'a'))
    expect(await batch).toEqual(['a', 'b'])
  })

  it('forgets an abandoned call, and reports its reply as late', async () => {
    const strays: string[] = []
    const { peer, raw } = await talk(wire, {}, { onStray: (_, why) => strays.push(why) })
    const giveUp = new AbortController()
    const call = peer.call('a', undefined, { signal: giveUp.signal })
    const { id } = await nextCall(raw)
    giveUp.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    raw.send(result(id, 'too late'))
    expect(await answered(peer, raw)).toBe('still here')
    expect(strays).toEqual(['late'])
  })
})

/** Makes a call and answers it. */
async function answered(peer: Peer, raw: Raw): Promise<unknown> {
  const call = peer.call('again')
  const { id } = await nextCall(raw)
  raw.send(result(id, 'still here'))
  return call
}

/** A method that returns when the test resolves it. */
function gate(): { readonly method: Method; readonly open: () => void } {
  let open: () => void = () => {}
  const passed = new Promise<void>(resolve => {
    open = resolve
  })
  return { method: () => passed.then(() => 'passed'), open }
}

const invalid = { code: -32_600, message: 'Invalid Request' }
const internal = { code: -32_603, message: 'Internal error' }

describe.each(wires)('the answerer over $name', wire => {
  it('serves 1 and "1" at the same time', async () => {
    const { method, open } = gate()
    const { raw } = await talk(wire, { wait: method, ping: () => 'pong' })
    raw.send(request(1, 'wait'))
    raw.send(request('1', 'wait'))
    raw.send(request(2, 'ping'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 2, result: 'pong' })
    open()
    expect([await nextReply(raw), await nextReply(raw)]).toEqual([
      { jsonrpc: '2.0', id: 1, result: 'passed' },
      { jsonrpc: '2.0', id: '1', result: 'passed' },
    ])
  })

  it('serves any number of null ids at the same time', async () => {
    const { method, open } = gate()
    const { raw } = await talk(wire, { wait: method, ping: () => 'pong' })
    raw.send(request(null, 'wait'))
    raw.send(request(null, 'wait'))
    raw.send(request(2, 'ping'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 2, result: 'pong' })
    open()
    const passed = { jsonrpc: '2.0', id: null, result: 'passed' }
    expect([await nextReply(raw), await nextReply(raw)]).toEqual([passed, passed])
  })

  it.each([
    { name: '5', id: 5 },
    { name: '0', id: 0 },
    { name: 'the empty text', id: '' },
  ])('refuses the id $name while it is in flight, and takes it again later', async ({ id }) => {
    const { method, open } = gate()
    const { raw } = await talk(wire, { wait: method, ping: () => 'pong' })
    raw.send(request(id, 'wait'))
    raw.send(request(id, 'ping'))
    // With its own id the error could be mistaken for the response to the first.
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: null, error: invalid })
    open()
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id, result: 'passed' })
    raw.send(request(id, 'ping'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id, result: 'pong' })
  })

  it('rejects an id that a batch uses twice', async () => {
    const { method, open } = gate()
    const { raw } = await talk(wire, { wait: method, ping: () => 'pong' })
    raw.send(`[${request(5, 'wait')},${request(5, 'ping')},${request(6, 'ping')}]`)
    raw.send(request(7, 'ping'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 7, result: 'pong' })
    open()
    expect(await nextReply(raw)).toEqual([
      { jsonrpc: '2.0', id: 5, result: 'passed' },
      { jsonrpc: '2.0', id: null, error: invalid },
      { jsonrpc: '2.0', id: 6, result: 'pong' },
    ])
  })

  it('answers a malformed request without the id of one that is in flight', async () => {
    const { method, open } = gate()
    const { raw } = await talk(wire, { wait: method })
    raw.send(request(5, 'wait'))
    raw.send('{"jsonrpc":"2.0","id":5,"method":"wait","params":1}')
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: null, error: invalid })
    open()
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 5, result: 'passed' })
  })

  const cyclic: unknown[] = []
  cyclic.push(cyclic)
  let deep: unknown[] = []
  for (let i = 0; i < 100_000; i++) deep = [deep]
  const unwritable: readonly { readonly name: string; readonly value: unknown }[] = [
    { name: 'a cycle', value: cyclic },
    { name: 'a bigint', value: { n: 1n } },
    { name: '100000 levels', value: deep },
    {
      name: 'a toJSON that throws',
      value: {
        toJSON: () => {
          throw new Error('a secret')
        },
      },
    },
  ]
  it.each(unwritable)('answers -32603 for a result with $name', async ({ value }) => {
    const { raw } = await talk(wire, { bad: () => value, ping: () => 'pong' })
    raw.send(request(1, 'bad'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 1, error: internal })
    raw.send(`[${request(2, 'ping')},${request(3, 'bad')},${request(4, 'ping')}]`)
    expect(await nextReply(raw)).toEqual([
      { jsonrpc: '2.0', id: 2, result: 'pong' },
      { jsonrpc: '2.0', id: 3, error: internal },
      { jsonrpc: '2.0', id: 4, result: 'pong' },
    ])
  })

  const empty: readonly { readonly name: string; readonly value: unknown }[] = [
    { name: 'nothing', value: undefined },
    { name: 'a function', value: () => 1 },
    { name: 'a symbol', value: Symbol('s') },
    { name: 'not a number', value: Number.NaN },
  ]
  it.each(empty)('answers null for a result that is $name', async ({ value }) => {
    const { raw } = await talk(wire, { odd: () => value })
    raw.send(request(1, 'odd'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 1, result: null })
  })

  const thrown: readonly { readonly name: string; readonly value: unknown }[] = [
    { name: 'an error', value: new Error('a secret') },
    { name: 'a text', value: 'a secret' },
    { name: 'nothing', value: undefined },
    { name: 'what looks like an error of the wire', value: { code: 1, message: 'a secret' } },
  ]
  it.each(thrown)('leaks nothing of a method that throws $name', async ({ value }) => {
    const errors: unknown[] = []
    const fail = () => {
      throw value
    }
    const answers = { fail, later: () => Promise.reject(value), ping: () => 'pong' }
    const { raw } = await talk(wire, answers, { onError: error => errors.push(error) })
    raw.send('{"jsonrpc":"2.0","method":"fail"}')
    raw.send('{"jsonrpc":"2.0","method":"later"}')
    raw.send(request(1, 'fail'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 1, error: internal })
    raw.send(request(2, 'later'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 2, error: internal })
    expect(errors).toEqual([value, value, value, value])
  })

  it('passes 99000 positional params to a method', async () => {
    const { raw } = await talk(wire, { count: (...params) => params.length })
    const params = new Array(99_000).fill(0).join(',')
    raw.send(`{"jsonrpc":"2.0","id":1,"method":"count","params":[${params}]}`)
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 1, result: 99_000 })
  })

  it.each([
    { name: 'unknown', params: '{"id":99}' },
    { name: 'finished', params: '{"id":1}' },
    { name: 'no id', params: '{"id":{"a":1}}' },
    { name: 'missing', params: '{}' },
    { name: 'params by position', params: '[1]' },
    { name: 'inherited', params: '{"__proto__":{"id":1}}' },
  ])('passes over a cancellation whose id is $name', async ({ params }) => {
    const cancellation = { method: '$/cancelRequest', member: 'id' }
    const { raw } = await talk(wire, { ping: () => 'pong' }, { cancellation })
    raw.send(request(1, 'ping'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 1, result: 'pong' })
    raw.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":${params}}`)
    raw.send(request(2, 'ping'))
    expect(await nextReply(raw)).toEqual({ jsonrpc: '2.0', id: 2, result: 'pong' })
  })
})
