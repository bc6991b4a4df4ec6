import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import { Server } from '../../src/server/server.ts'
import { Random } from '../fuzz/random.ts'
import { type Asking, written } from './raw.ts'
import { inSession, speaking } from './requests.ts'
import { type Served, serve } from './served.ts'

/** One keep-alive connection that sends sequential requests as cheaply as possible. */
class Line {
  readonly #socket: Socket
  #text = ''
  #whole: ((answer: string) => void) | undefined

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.setEncoding('latin1').on('data', (text: string) => this.#take(text))
    this.#socket.on('close', () => this.#whole?.('closed'))
    this.#socket.on('error', () => {})
  }

  /** Sends a request and returns the whole response: the body, or the data of all events. */
  ask(bytes: Buffer): Promise<string> {
    this.#socket.write(bytes)
    return new Promise(resolve => {
      this.#whole = resolve
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(text: string): void {
    this.#text += text
    const head = this.#text.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = /content-length: (\d+)/i.exec(this.#text.slice(0, head))?.[1]
    const end =
      length === undefined
        ? this.#text.indexOf('\r\n0\r\n\r\n', head) + 7
        : head + 4 + Number(length)
    if (end < head + 4 || this.#text.length < end) return
    const body = this.#text.slice(head + 4, end)
    this.#text = this.#text.slice(end)
    this.#whole?.(body)
  }
}

/** A server and what its tools have done. */
export interface Ledger {
  /** How often each call was executed, by its word. */
  readonly carriedOut: Map<string, number>
  readonly server: Server
}

/** Returns a server whose tools write down each call. */
export function ledger(random: Random): Ledger {
  const server = new Server({ name: 'ledger', version: '1' })
  const carriedOut = new Map<string, number>()
  const count = (word: string): string => {
    carriedOut.set(word, (carriedOut.get(word) ?? 0) + 1)
    return word
  }
  const later = (): Promise<void> => new Promise(resolve => setTimeout(resolve, random.int(4)))
  const input = {
    type: 'object',
    properties: { word: { type: 'string' } },
    required: ['word'],
  } as const
  server.tool('now', { input }, ({ word }) => count(word))
  server.tool('later', { input }, async ({ word }) => {
    await later()
    return count(word)
  })
  server.tool('step', { input }, async ({ word }, ctx) => {
    ctx.progress(1, 2, word)
    await later()
    return count(word)
  })
  server.tool('touch', { input }, ({ word }) => {
    server.updated(`x:${word.split('-')[0]}`)
    return count(word)
  })
  server.resourceTemplate('any', 'x:{name}', {}, ({ name }) => `about ${name}`)
  const said = {
    type: 'object',
    properties: { word: { type: 'string' } },
    required: ['word'],
  } as const
  server.prompt('say', { args: said }, ({ word }) => word)
  return { carriedOut, server }
}

const tools = ['now', 'later', 'step', 'touch'] as const

/** Returns the next request of a client, and the text that must be in its response and in no other. */
function next(
  client: number,
  turn: number,
  session: string | undefined,
): { asking: Asking; word: string; tool: string | undefined } {
  const word = `${client}-${turn}-z`
  const kind = turn % 10
  const params = { _meta: { progressToken: turn } }
  const make = (method: string, more: object): Asking =>
    session === undefined
      ? speaking(method, more, { id: turn, meta: params._meta })
      : inSession(session, method, { ...more, ...params }, turn)
  if (kind === 8)
    return { asking: make('resources/read', { uri: `x:${word}` }), word, tool: undefined }
  if (kind === 9)
    return {
      asking: make('prompts/get', { name: 'say', arguments: { word } }),
      word,
      tool: undefined,
    }
  const tool = tools[kind % tools.length] ?? 'now'
  return { asking: make('tools/call', { name: tool, arguments: { word } }), word, tool }
}

interface Counts {
  answered: number
  foreign: number
  called: string[]
}

async function client(
  on: Served,
  number: number,
  turns: number,
  session: string | undefined,
): Promise<Counts> {
  const line = new Line(on.port)
  const tally: Counts = { answered: 0, foreign: 0, called: [] }
  for (let turn = 0; turn < turns; turn++) {
    const { asking, word, tool } = next(number, turn, session)
    const answer = await line.ask(written(on.port, asking))
    const words = answer.match(/\d+-\d+-z/g) ?? []
    const isOwn = words.length > 0 && words.every(one => one === word)
    if (isOwn && answer.includes(`"id":${turn},"result"`)) tally.answered++
    else tally.foreign++
    if (tool !== undefined) tally.called.push(word)
  }
  line.close()
  return tally
}

/** Subscribes to changes of its own resource, and counts those of others. */
async function listener(
  on: Served,
  number: number,
): Promise<() => { own: number; foreign: number }> {
  const uri = `x:${number}`
  const filter = { notifications: { resourceSubscriptions: [uri] } }
  const wire = await on.open(speaking('subscriptions/listen', filter, { id: 0 }))
  await wire.begin()
  await wire.event()
  const received = { own: 0, foreign: 0 }
  void (async () => {
    for (let data = await wire.event(); data !== undefined; data = await wire.event()) {
      if (data.includes(`"uri":"${uri}"`)) received.own++
      else if (data.includes('"uri"')) received.foreign++
    }
  })()
  return () => {
    wire.cut()
    return received
  }
}

/**
 * Lets clients of both eras call one server at the same time. Expects that each call was executed once, that its
 * response went to its caller alone, and that subscribers got the changes of their own resource alone.
 */
export async function expectOwnResponses(clients: number, callsPerClient: number): Promise<void> {
  const { server, carriedOut } = ledger(new Random(7))
  // Clients and server share a thread, which a busy machine may stop for seconds.
  const patient = { idleTimeoutMs: 600_000, headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 }
  const on = await serve({ http: patient }, server)
  const numbers = Array.from({ length: clients }, (_, i) => i)
  const received = await Promise.all(numbers.slice(0, 20).map(number => listener(on, number)))
  const sessions: (string | undefined)[] = []
  for (const number of numbers) sessions.push(number % 2 ? await on.session() : undefined)
  const tallies = await Promise.all(
    numbers.map(number => client(on, number, callsPerClient, sessions[number])),
  )
  const sum = (of: (tally: Counts) => number) => tallies.reduce((all, tally) => all + of(tally), 0)
  const calls = clients * callsPerClient
  expect([sum(tally => tally.foreign), sum(tally => tally.answered)]).toEqual([0, calls])
  const called = tallies.flatMap(tally => tally.called)
  expect(carriedOut.size).toBe(called.length)
  expect(called.filter(word => carriedOut.get(word) !== 1)).toEqual([])
  for (const stop of received) {
    const { own, foreign } = stop()
    expect(own).toBeGreaterThan(0)
    expect(foreign).toBe(0)
  }
}
