import { type Channel, ChannelError, type Envelope, type Sink } from '../../src/jsonrpc/channel.ts'
import { decode } from '../../src/jsonrpc/codec/decode.ts'
import { encode } from '../../src/jsonrpc/codec/encode.ts'
import type { Handler, Method } from '../../src/jsonrpc/handler.ts'
import type { Id } from '../../src/jsonrpc/message.ts'
import type { PeerOptions } from '../../src/jsonrpc/peer/options.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import { memoryPair } from '../../src/transport/memory.ts'
import type { Clock, Timer } from '../../src/util/time/clock.ts'
import { Deadlines } from '../../src/util/time/deadline.ts'

/** Returns two peers in memory: `server` responds, `client` calls. */
export function pair(
  answers: Handler | Record<string, Method>,
  options: PeerOptions = {},
  clientOptions: PeerOptions = {},
  clientAnswers: Handler | Record<string, Method> = {},
) {
  const [near, far] = memoryPair()
  const server = new Peer(far, answers, options)
  const client = new Peer(near, clientAnswers, clientOptions)
  return { server, client }
}

/** Returns a channel whose other end is the test, which sends and receives text. */
export function wire() {
  const sent: string[] = []
  let sink: Sink | undefined
  let closed = false
  let congestion: Promise<void> | undefined
  const channel: Channel = {
    halfOpen: true,
    open: s => {
      sink = s
    },
    send(message) {
      if (closed) throw new ChannelError('closed', 'closed')
      try {
        sent.push(encode(message))
      } catch (cause) {
        throw new ChannelError('unserialisable', 'no JSON', { cause })
      }
      return congestion
    },
    async close() {
      closed = true
    },
    async [Symbol.asyncDispose]() {},
  }
  return {
    channel,
    sent,
    congest: (promise: Promise<void> | undefined) => {
      congestion = promise
    },
    deliver: (text: string, envelope: Envelope = {}) => sink?.receive(decode(text), envelope),
    fail: (id: Id, error: ChannelError) => sink?.failed?.(id, error),
    disconnect: (cause?: Error) => sink?.closed(cause),
    get isClosed() {
      return closed
    },
  }
}

/** Returns deadlines with a manual clock. */
export function manualDeadlines() {
  let now = 0
  const timers = new Map<Timer, { at: number; run: () => void }>()
  const clock: Clock = {
    now: () => now,
    start: (run, delayMs) => {
      const timer: Timer = { ref() {}, unref() {} }
      timers.set(timer, { at: now + delayMs, run })
      return timer
    },
    stop: timer => timers.delete(timer),
  }
  const advance = (ms: number) => {
    now += ms
    for (const [timer, entry] of [...timers]) {
      if (entry.at <= now && timers.delete(timer)) entry.run()
    }
  }
  return { deadlines: new Deadlines(clock, 1), advance }
}

export const forever = () => new Promise<never>(() => {})
/** Waits for one turn of the event loop. */
export const turn = () => new Promise<void>(resolve => setImmediate(resolve))
