import assert from 'node:assert/strict'
import { ours } from '../ours.js'
import { trunklineServer } from './definition-ours.js'
import { answerTo, argumentsOf, name as tool } from './tool.js'

/** What is done to a server before it is called. */
const preparations = {
  trunkline() {},
  'trunkline, any middleware'(server) {
    server.use(next => (message, exchange) => next(message, exchange))
  },
  async 'trunkline, nobody listens'(server) {
    const { observed } = await ours('observe/index')
    server.use(observed())
  },
  async 'trunkline, all on'(server) {
    const { observe } = await ours('observe/index')
    const observer = observe({ endpoint: server, logs: 'info', traces: true })
    await observer.ready
  },
}

export const kinds = Object.keys(preparations)

/** One that begins to be observed, and ceases, with every call of its tool `turn`. */
export const turned = 'turned'

async function prepareTurned(server) {
  const { observe } = await ours('observe/index')
  let observer
  server.tool('turn', {}, async () => {
    if (observer === undefined) {
      observer = observe({ endpoint: server, logs: 'info', traces: true })
      await observer.ready
      return 'observed'
    }
    await observer.close()
    observer = undefined
    return 'not observed'
  })
}

/** The server of one kind, ready to be called. */
export async function observedServer(kind) {
  const server = await trunklineServer()
  await (kind === turned ? prepareTurned(server) : preparations[kind](server))
  return server
}

/** A contestant that makes `count` tool calls, `inFlight` of them at any time; its name begins with the era. */
export function contestant(name, inFlight) {
  const [era] = name.split(' ', 1)
  let client
  return {
    name,
    async open() {
      const { connect } = await ours('index')
      const server = await observedServer(name.slice(era.length + 1))
      client = await connect(server, { era })
    },
    async check() {
      const { text } = await client.call(tool, argumentsOf(7))
      assert.equal(text, answerTo(argumentsOf(7)))
    },
    prepare() {},
    async run(count) {
      let left = count
      const work = async () => {
        while (left > 0) {
          left -= 1
          await client.call(tool, argumentsOf(left & 1023))
        }
      }
      await Promise.all(Array.from({ length: Math.min(inFlight, count) }, work))
    },
    close: () => client?.close(),
  }
}
