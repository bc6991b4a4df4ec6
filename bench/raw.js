import assert from 'node:assert/strict'
import { isOurs } from './measure.js'

const text =
  'What the caller sends comes back as it is, whatever it says; this is about as long as a short question.'

/** The request of the echo suites. */
export const request = id =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params: { text: `${text} ${id}` } })

/** The workload of the echo suites: `check` throws for a wrong response, `usage` requests the CPU time. */
const echo = {
  request,
  check(id, reply) {
    assert.deepEqual(reply, { jsonrpc: '2.0', id, result: JSON.parse(request(id)).params })
  },
  usage: JSON.stringify({ jsonrpc: '2.0', id: 'usage', method: 'usage', params: {} }),
  microsOf: reply => reply.result.cpuMicros,
}

/**
 * The client that drives every server. It only counts responses, so that the server dominates the
 * measurement. `open` returns a link, `{ post(texts), ask(text), replies(count), close(), broken }`:
 * `post` sends several requests, `replies` receives the number of complete responses, `ask` sends one
 * request and resolves to its response, `askAll` (optional) does so for several, and `broken` rejects when
 * the server has exited. `work` is the workload, such as `echo` above.
 */
export function rawClient(name, open, inFlight, work = echo) {
  const make = () => clientOf(name, open, inFlight, work)
  return isOurs(name) || name === 'direct' ? { ...make(), twin: make } : make()
}

function clientOf(name, open, inFlight, work) {
  const frames = []
  let link
  let next = 0
  return {
    name,
    async open() {
      link = await open()
      link.broken.catch(() => {})
      frames.length = 0
      for (let id = 1; id <= 1024; id++) frames.push(link.frame(work.request(id)))
    },
    async check() {
      for (const id of [1, 2]) {
        work.check(id, JSON.parse(await Promise.race([link.ask(work.request(id)), link.broken])))
      }
      if (link.askAll === undefined) return
      // Later, responses are only counted. Here each must match a different request.
      const ids = Array.from({ length: inFlight }, (_, i) => i + 1)
      const all = link.askAll(ids.map(id => work.request(id)))
      const replies = (await Promise.race([all, link.broken])).map(text => JSON.parse(text))
      const byId = new Map(replies.map(reply => [reply.id, reply]))
      for (const id of ids) work.check(id, byId.get(id))
    },
    run(count) {
      let unsent = count
      let missing = count
      const send = wanted => {
        const number = Math.min(wanted, unsent)
        if (number === 0) return
        unsent -= number
        link.post(frames, next, number)
        next = (next + number) % 1024
      }
      const done = new Promise(resolve => {
        link.replies = arrived => {
          missing -= arrived
          if (missing === 0) resolve()
          else send(arrived)
        }
      })
      send(inFlight)
      return Promise.race([done, link.broken])
    },
    async cpu() {
      const reply = JSON.parse(await Promise.race([link.ask(work.usage), link.broken]))
      return work.microsOf(reply)
    },
    async turn() {
      await Promise.race([link.ask(work.turn), link.broken])
    },
    close: () => link?.close(),
  }
}

/** Creates a link over a pair of byte streams. */
export function streamLink({ input, output, wire, close }) {
  const count = wire.counter()
  const link = {
    frame: wire.frame,
    replies() {},
    post(frames, from, number) {
      let joined = ''
      for (let i = 0; i < number; i++) joined += frames[(from + i) % 1024]
      output.write(joined, 'latin1')
    },
    ask: async text => (await link.askAll([text]))[0],
    askAll(texts, replies = texts.length) {
      return new Promise(resolve => {
        const parts = []
        let missing = replies
        answered = chunk => parts.push(chunk)
        link.replies = arrived => {
          missing -= arrived
          if (missing > 0) return
          answered = undefined
          resolve(wire.texts(Buffer.concat(parts)))
        }
        output.write(texts.map(wire.frame).join(''))
      })
    },
    broken: new Promise((_, reject) => {
      const gone = () => reject(new Error('the server has exited'))
      input.on('close', gone)
      input.on('error', gone)
    }),
    close,
  }
  let answered
  input.on('data', chunk => {
    answered?.(chunk)
    const arrived = count(chunk)
    if (arrived > 0) link.replies(arrived)
  })
  return link
}
