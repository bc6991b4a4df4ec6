import { expect } from 'vitest'
import type { Server } from '../../src/server/server.ts'
import type { Revision } from '../mcp-interop/driver.ts'
import { checkSent } from '../mcp-interop/schema-check.ts'
import { turn, wire } from './wire.ts'

/** How long a test waits for a message. */
const MESSAGE_TIMEOUT_MS = 15_000

export interface WireMessage {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export interface RawClientOptions {
  readonly principal?: string
  readonly capabilities?: object
  /** Answers a server request; undefined leaves it unanswered. */
  readonly answer?: (request: WireMessage) => object | undefined
}

export const withTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
export const capabilitiesWithTasks = {
  ...withTasks,
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
}

/**
 * Attaches a client that sends handwritten messages, and checks every message of the server against the
 * schema of its revision.
 */
export function rawClient(server: Server, revision: Revision, options: RawClientOptions = {}) {
  const w = wire()
  const { principal } = options
  const envelope = principal === undefined ? {} : { principal: { id: principal } }
  const session = server.attach(w.channel, envelope)
  const received: WireMessage[] = []
  const methods = new Map<unknown, string>()
  let id = 0

  const send = (message: object): void => {
    void w.deliver(JSON.stringify({ jsonrpc: '2.0', ...message }), envelope)
  }
  const receive = (): void => {
    for (const text of w.sent.splice(0)) {
      const message: WireMessage = JSON.parse(text)
      received.push(message)
      check(revision, message, methods.get(message.id))
      if (message.method === undefined || message.id === undefined) continue
      const result = options.answer?.(message)
      if (result !== undefined) send({ id: message.id, result })
    }
  }
  /** Waits for the first message that fits, and removes it from the received messages. */
  const next = async (fits: (message: WireMessage) => boolean): Promise<WireMessage> => {
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
    methods.set(mine, method)
    send({ id: mine, method, params })
    return mine
  }
  const reply = (mine: number): Promise<WireMessage> =>
    next(message => message.id === mine && message.method === undefined)
  const meta =
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
    received: () => {
      receive()
      return received
    },
    disconnect: () => w.disconnect(),
    /** Sends a request with the metadata its revision needs; `capabilities` applies only without a session. */
    request: (
      method: string,
      params: Record<string, unknown> = {},
      capabilities: object = options.capabilities ?? withTasks,
    ): Promise<WireMessage> => {
      if (meta === undefined) return reply(begin(method, params))
      const all = { ...meta, 'io.modelcontextprotocol/clientCapabilities': capabilities }
      const given = typeof params._meta === 'object' ? params._meta : {}
      return reply(begin(method, { ...params, _meta: { ...all, ...given } }))
    },
    open: async (): Promise<WireMessage> => {
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

export type RawClient = ReturnType<typeof rawClient>

/** Opens a session of the revision that has tasks in its core. */
export async function opened(server: Server, options?: RawClientOptions): Promise<RawClient> {
  const client = rawClient(server, '2025-11-25', options)
  await client.open()
  return client
}

/** Checks a message against the core schema, which does not define the tasks extension. */
function check(revision: Revision, message: WireMessage, answers: string | undefined): void {
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
