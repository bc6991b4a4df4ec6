import assert from 'node:assert/strict'

const text =
  'What the caller sends comes back as it is, whatever it says; this is about as long as a short question.'

/** The request of the echo suites. */
export const request = id =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params: { text: `${text} ${id}` } })

/**
 * The one client that drives every server: it only counts replies, so that the server is what is
 * measured. `open` gives a link, `{ post(texts), ask(text), replies(count), close(), broken }`:
 * `post` sends several requests, each whole reply is counted to `replies`, `ask` sends one and gives
 * its reply, `broken` rejects when the server is gone.
 */
export function rawClient(name, open, inFlight) {
  const frames = []
  let link
  let next = 0
  return {
    name,
    async open() {
      link = await open()
      link.broken.catch(() => {})
      for (let id = 1; id <= 1024; id++) frames.push(link.frame(request(id)))
    },
    async check() {
      for (const id of [1, 2]) {
        const reply = JSON.parse(await Promise.race([link.ask(request(id)), link.broken]))
        assert.deepEqual(reply, { jsonrpc: '2.0', id, result: JSON.parse(request(id)).params })
      }
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
      const usage = JSON.stringify({ jsonrpc: '2.0', id: 'usage', method: 'usage', params: {} })
      const reply = JSON.parse(await Promise.race([link.ask(usage), link.broken]))
      return reply.result.cpuMicros
    },
    close: () => link?.close(),
  }
}

/** A link over a pair of byte streams. */
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
    ask(text) {
      return new Promise(resolve => {
        const parts = []
        answered = chunk => parts.push(chunk)
        link.replies = () => {
          answered = undefined
          resolve(wire.text(Buffer.concat(parts)))
        }
        output.write(wire.frame(text))
      })
    },
    broken: new Promise((_, reject) => {
      const gone = () => reject(new Error('the server is gone'))
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
