import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cuts, type Raw, rawEnds } from '../judges/raw.ts'
import type { Program, Revision } from './driver.ts'

/** An unusual line, and the lines that must come back. */
export interface OddFrame {
  readonly name: string
  readonly line: string
  /** The expected responses in order, by a subset of their members; empty where none may come back. */
  readonly answers: readonly unknown[]
}

const error = (id: unknown, code: number) => ({ jsonrpc: '2.0', id, error: { code } })
const pong = (id: unknown) => ({ jsonrpc: '2.0', id, result: {} })

/**
 * Thirteen frames, and what JSON-RPC 2.0 and the revision 2025-03-26 require after the handshake. Where
 * the id is readable the error carries it. Batches, positional params and unknown members are valid
 * JSON-RPC: this revision requires batches, positional params fit no method of the protocol, and
 * unknown members are harmless.
 */
export const oddFrames: readonly OddFrame[] = [
  {
    name: 'half a message',
    line: '{"jsonrpc":"2.0","id":1,"method":"ping"',
    answers: [error(null, -32700)],
  },
  { name: 'a number', line: '42', answers: [error(null, -32600)] },
  { name: 'no version', line: '{"id":3,"method":"ping"}', answers: [error(3, -32600)] },
  {
    name: 'another version',
    line: '{"jsonrpc":"1.0","id":4,"method":"ping"}',
    answers: [error(4, -32600)],
  },
  {
    name: 'null as an id',
    line: '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    answers: [error(null, -32600)],
  },
  {
    name: 'a fraction as an id',
    line: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    answers: [error(null, -32600)],
  },
  {
    name: 'an object as an id',
    line: '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    answers: [error(null, -32600)],
  },
  {
    name: 'a number as a method',
    line: '{"jsonrpc":"2.0","id":8,"method":5}',
    answers: [error(8, -32600)],
  },
  {
    name: 'positional params',
    line: '{"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}',
    answers: [error(9, -32602)],
  },
  {
    name: 'an unknown member',
    line: '{"jsonrpc":"2.0","id":10,"method":"ping","extra":true}',
    answers: [pong(10)],
  },
  {
    name: 'a batch of two',
    line: '[{"jsonrpc":"2.0","id":11,"method":"ping"},{"jsonrpc":"2.0","id":"11","method":"ping"}]',
    answers: [[pong(11), pong('11')]],
  },
  { name: 'a batch of nothing', line: '[]', answers: [error(null, -32600)] },
  {
    name: 'a result that is an error too',
    line: '{"jsonrpc":"2.0","id":13,"result":{},"error":{"code":1,"message":"both"}}',
    answers: [],
  },
]

const startMs = 60_000

/**
 * A server process behind raw pipes, without any client library. The class waits for lines and never
 * sleeps: each expected line has a deadline, and the response to a later request shows that nothing
 * came.
 */
export class RawServer implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #raw: Raw
  readonly #deadlineMs: number
  #asked = 0
  #hasSpoken = false

  constructor(
    { command, args }: Program,
    { deadlineMs = 60_000 }: { readonly deadlineMs?: number } = {},
  ) {
    this.#deadlineMs = deadlineMs
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
    const { stdin, stdout } = this.#child
    if (stdin === null || stdout === null) throw new Error('the child has no pipes')
    this.#raw = rawEnds(stdout, stdin, cuts.lines)
  }

  /** Performs the handshake and returns the response. */
  async initialize(revision: Revision): Promise<unknown> {
    const params = {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: 'raw', version: '1.0.0' },
    }
    this.#send({ jsonrpc: '2.0', id: 'initialize', method: 'initialize', params })
    const answer = await this.#next('the answer to initialize')
    this.#send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return answer
  }

  /**
   * Sends a frame and returns the parsed response lines. Rejects when fewer arrive than expected before
   * the deadline, when a line is not JSON, or when the server exits.
   */
  async exchange({ name, line, answers }: OddFrame): Promise<readonly unknown[]> {
    this.#raw.send(line)
    const came: unknown[] = []
    while (came.length < answers.length) came.push(await this.#next(`an answer to ${name}`))
    const id = `after ${++this.#asked}`
    this.#send({ jsonrpc: '2.0', id, method: 'ping' })
    for (;;) {
      const next = await this.#next(`a ping after ${name}`)
      if (isAbout(next, id)) return came
      came.push(next)
    }
  }

  /** Ends its input and waits for the server to exit; kills it if it does not. Returns the exit code. */
  async close(): Promise<number | null> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exit = once(child, 'exit')
    this.#raw.end()
    const deadline = setTimeout(() => child.kill('SIGKILL'), this.#deadlineMs)
    await exit
    clearTimeout(deadline)
    return child.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #send(message: object): void {
    this.#raw.send(JSON.stringify(message))
  }

  async #next(what: string): Promise<unknown> {
    // The time a process takes to start says nothing about the server.
    const withinMs = this.#hasSpoken ? this.#deadlineMs : Math.max(this.#deadlineMs, startMs)
    let deadline: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      const tell = () => reject(new Error(`${what} did not come within ${withinMs} ms`))
      deadline = setTimeout(tell, withinMs)
    })
    try {
      const line = await Promise.race([this.#raw.next(), late])
      this.#hasSpoken = true
      return JSON.parse(line)
    } finally {
      clearTimeout(deadline)
    }
  }
}

function isAbout(message: unknown, id: string): boolean {
  return typeof message === 'object' && message !== null && 'id' in message && message.id === id
}
