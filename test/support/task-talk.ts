import { expect } from 'vitest'
import type { Server } from '../../src/server/server.ts'
import type { Revision } from '../mcp-interop/driver.ts'
import { checkSent } from '../mcp-interop/schema-check.ts'
import { turn, wire } from './wire.ts'

/** How long a test waits for a message. */
const MESSAGE_TIMEOUT_MS = 15_000

export interface Said {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export interface TalkOptions {
  readonly principal?: string
  readonly capabilities?: object
  /** Answers a server request; undefined leaves it unanswered. */
  readonly answer?: (request: Said) => object | undefined
}

export const withTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
export const asker = { ...withTasks, elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

/**
 * Attaches a client that sends handwritten messages, and checks every message of the server against the
 * schema of its revision.
 */
export function talk(server: Server, revision: Revision, options: TalkOptions = {}) {
  const w = wire()
  const { principal } = options
  const envelope = principal === undefined ? {} : { principal: { id: principal } }
  const session = server.attach(w.channel, envelope)
  const received: Said[] = []
  const asked = new Map<unknown, string>()
  let id = 0

  const send = (message: object): void => {
    void w.say(JSON.stringify({ jsonrpc: '2.0', ...message }), envelope)
  }
  const receive = (): void => {
    for (const text of w.sent.splice(0)) {
      const message: Said = JSON.parse(text)
      received.push(message)
      check(revision, message, asked.get(message.id))
      if (message.method === undefined || message.id === undefined) continue
      const result = options.answer?.(message)
      if (result !== undefined) send({ id: message.id, result })
    }
  }
  /** Waits for the first message that fits, and removes it from the received messages. */
  const next = async (fits: (message: Said) => boolean): Promise<Said> => {
    const end = performance.now() + MESSAGE_TIMEOUT_MS
    for (;;) {
      receive()
      const place = received.findIndex(fits)
      const [found] = place < 0 ? [] : received.splice(place, 1)
      if (found !== undefined) return found
      if (performance.now() > end) throw new Error(`not among ${JSON.stringify(received)}`)
      await turn()
    }
  }
  const begin = (method: string, params?: object): number => {
    const mine = ++id
    asked.set(mine, method)
    send({ id: mine, method, params })
    return mine
  }
  const reply = (mine: number): Promise<Said> =>
    next(message => message.id === mine && message.method === undefined)
  const said =
    revision === '2026-07-28'
      ? {
          'io.modelcontextprotocol/protocolVersion': revision,
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        }
      : undefined

  return {
    session,
    send,
    begin,
    reply,
    next,
    /** Returns all messages received and not yet taken by `next`. */
    heard: () => {
      receive()
      return received
    },
    hangUp: () => w.hangUp(),
    /** Sends a request with the metadata its revision needs; `capabilities` applies only without a session. */
    ask: (
      method: string,
      params: Record<string, unknown> = {},
      capabilities: object = options.capabilities ?? withTasks,
    ): Promise<Said> => {
      if (said === undefined) return reply(begin(method, params))
      const meta = { ...said, 'io.modelcontextprotocol/clientCapabilities': capabilities }
      const given = typeof params._meta === 'object' ? params._meta : {}
      return reply(begin(method, { ...params, _meta: { ...meta, ...given } }))
    },
    open: async (): Promise<Said> => {
      const opened = await reply(
        begin('initialize', {
          protocolVersion: revision,
          capabilities: options.capabilities ?? {},
          clientInfo: { name: 'test', version: '1' },
        }),
      )
      send({ method: 'notifications/initialized' })
      return opened
    },
  }
}

export type Talk = ReturnType<typeof talk>

/** Opens a session of the revision that has tasks in its core. */
export async function opened(server: Server, options?: TalkOptions): Promise<Talk> {
  const client = talk(server, '2025-11-25', options)
  await client.open()
  return client
}

/** Checks a message against the core schema, which does not define the tasks extension. */
function check(revision: Revision, message: Said, answers: string | undefined): void {
  const isExtension =
    revision === '2026-07-28' &&
    (answers?.startsWith('tasks/') ||
      message.method === 'notifications/tasks' ||
      message.result?.resultType === 'task')
  if (isExtension) return
  const strict = revision !== '2026-07-28'
  expect(checkSent(revision, 'server', message, { answers, strict })).toEqual([])
}

/** A promise that blocks a tool until the test opens it. */
export function gate() {
  let open: (value: string) => void = () => {}
  let fail: (error: Error) => void = () => {}
  const passed = new Promise<string>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { passed, open, fail }
}
