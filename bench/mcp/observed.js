import assert from 'node:assert/strict'
import { ours } from '../ours.js'
import { trunklineServer } from './definition-ours.js'
import { answerTo, argumentsOf, name as tool } from './tool.js'

/** Prepares a server, by kind. */
const preparations = {
  trunkline() {},
  'trunkline, any middleware'(server) {
    server.use(next => (message, exchange) => next(message, exchange))
  },
  async 'trunkline, no subscribers'(server) {
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

/** By kind: returns a function that switches a server between off and this kind; the tool `turn` calls it. */
const turns = {
  async 'all on'(server) {
    const { observe } = await ours('observe/index')
    let observer
    return async () => {
      if (observer === undefined) {
        observer = observe({ endpoint: server, logs: 'info', traces: true })
        await observer.ready
        return
      }
      await observer.close()
      observer = undefined
    }
  },
  async 'no subscribers'(server) {
    const { observed } = await ours('observe/index')
    let isOn = false
    server.use(next => {
      const handler = observed()(next)
      return (message, exchange) => (isOn ? handler(message, exchange) : next(message, exchange))
    })
    return () => {
      isOn = !isOn
    }
  },
}

export const turnedKinds = Object.keys(turns)

/** Creates the server that can be switched. */
export async function turnedServer(kind) {
  const server = await trunklineServer()
  const turn = await turns[kind](server)
  server.tool('turn', {}, async () => {
    await turn()
    return 'turned'
  })
  return server
}

/** Creates the server of one kind. */
async function observedServer(kind) {
  const server = await trunklineServer()
  await preparations[kind](server)
  return server
}

/** A contestant that makes `count` tool calls, keeping `inFlight` in flight. Its name starts with the era. */
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
