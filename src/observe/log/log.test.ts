import { EventEmitter } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { RpcError } from '../../jsonrpc/error.ts'
import { limits } from '../../util/limits/limits.ts'
import { CallSpan } from '../call.ts'
import { events } from '../events.ts'
import { logEvents } from './events.ts'
import { lineOf } from './line.ts'
import { Log, type LogOptions } from './log.ts'
import { redact, redactText } from './redact.ts'

const now = () => new Date(0)
const time = now().toISOString()

/** A stream that accepts a number of texts and then blocks. */
function stream(room = Number.POSITIVE_INFINITY) {
  const emitter = new EventEmitter()
  const written: string[] = []
  let left = room
  return Object.assign(emitter, {
    written,
    write: (text: string) => {
      written.push(text)
      left -= 1
      return left > 0
    },
    drain: (more: number) => {
      left = more
      emitter.emit('drain')
    },
  })
}

function made(options: LogOptions = {}, room?: number) {
  const to = stream(room)
  const log = new Log({ stream: to, now, ...options })
  return { to, log, events: () => to.written.map(line => JSON.parse(line)) }
}

describe('a log', () => {
  it('is one JSON object per line', () => {
    const { log, to } = made()
    log.write('info', 'instance started', { server: 'files', pid: 7, none: undefined })
    expect(to.written).toEqual([
      `{"time":"${time}","level":"info","event":"instance started","server":"files","pid":7}\n`,
    ])
  })

  it('is text if the format says so', () => {
    const { log, to } = made({ format: 'text' })
    log.write('warn', 'call failed', { name: 'a b', id: 1, uri: 'r:///1' })
    expect(to.written).toEqual([`${time} WARN  call failed name="a b" id=1 uri=r:///1\n`])
  })

  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { color: false }, false],
    [false, { color: true }, true],
  ])('has colors on a terminal (%s, %o: %s)', (isTTY, options, isColored) => {
    const to = Object.assign(stream(), { isTTY })
    const log = new Log({ stream: to, now, format: 'text', ...options })
    const { NO_COLOR } = process.env
    log.write('info', 'x')
    expect(to.written[0]?.includes('\x1b[')).toBe(isColored && (!NO_COLOR || 'color' in options))
  })

  it('leaves out lines below its level', () => {
    const { log, to } = made({ level: 'warn' })
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log.write(level, level)
    expect(to.written).toHaveLength(2)
    expect(log.writes('info')).toBe(false)
    expect(() => made({ level: 'loud' as 'info' })).toThrow('unknown log level "loud"')
  })

  it('buffers a limited number of lines, and reports how many it dropped', () => {
    const { log, events } = made({}, 1)
    const most = limits.logLines.default
    for (let i = 0; i < most + 6; i++) log.write('info', `line ${i}`)
    expect(events()).toHaveLength(1)
    expect(log.dropped).toBe(5)
  })

  it('continues in order when the stream drains', () => {
    const { log, to, events } = made({ maxLines: 2 }, 1)
    for (let i = 0; i < 5; i++) log.write('info', `line ${i}`)
    to.drain(1)
    expect(events().map(({ event }) => event)).toEqual(['line 0', 'line 1'])
    to.drain(9)
    log.write('info', 'line 5')
    expect(events().map(({ event, lines }) => lines ?? event)).toEqual([
      'line 0',
      'line 1',
      'line 2',
      2,
      'line 5',
    ])
  })

  it('survives a closed reader', () => {
    const { log, to } = made()
    to.emit('error', new Error('EPIPE'))
    log.write('info', 'x')
    to.drain(1)
    log.close()
    expect(to.written).toEqual([])
  })

  it('writes the buffered lines when it is closed, and nothing more', () => {
    const { log, to } = made({}, 1)
    log.write('info', 'a')
    log.write('info', 'b')
    log.close()
    log.close()
    log.write('info', 'c')
    expect(to.written).toHaveLength(2)
    expect([to.listenerCount('drain'), to.listenerCount('error')]).toEqual([0, 0])
  })
})

describe('a line', () => {
  const hostile = 'a\n{"level":"error"}\r\x1b[2J\x9b31m\u202e\u2028b'
  it.each(['json', 'text'] as const)('of %s stays one line, with any content', format => {
    const line = { time: now(), level: 'info', what: 'x', fields: { [hostile]: hostile } } as const
    const text = lineOf(line, format)
    expect(text.indexOf('\n')).toBe(text.length - 1)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
    expect(text.slice(0, -1)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u202e]/)
    if (format === 'json') expect(JSON.parse(text)[hostile]).toBe(hostile)
  })

  it('cannot be given another time, level or event by its fields', () => {
    const fields = { time: 1, level: 'error', event: 'y', z: 1 }
    const text = lineOf({ time: now(), level: 'info', what: 'x', fields }, 'json')
    expect(JSON.parse(text)).toEqual({ time, level: 'info', event: 'x', z: 1 })
  })
})

describe('secrets', () => {
  it.each([
    'authorization',
    'Authorization',
    'set-cookie',
    'access_token',
    'refreshToken',
    'client_secret',
    'password',
    'apiKey',
    'API_KEY',
    'X-Api-Key',
    'Mcp-Session-Id',
    'privateKey',
    'AWS_ACCESS_KEY_ID',
  ])('under %s are left out, at any depth', key => {
    expect(redact({ a: [{ [key]: 'hunter2', b: 1 }] })).toEqual({
      a: [{ [key]: '[redacted]', b: 1 }],
    })
  })

  it.each([
    ['in an address', 'at https://ada:hunter2@a.test/x', 'at https://[redacted]@a.test/x'],
    ['behind Bearer', 'Bearer hunter2.x-y_z', 'Bearer [redacted]'],
    ['in a query', 'https://a.test/?api_key=hunter2&b=1', 'https://a.test/?api_key=[redacted]&b=1'],
    ['in a setting', 'PASSWORD="hunter2" x', 'PASSWORD="[redacted]" x'],
    ['nowhere', 'a@b.test reads https://a.test/@x', 'a@b.test reads https://a.test/@x'],
  ])('%s are left out of a text', (_, text, expected) => {
    expect(redactText(text)).toBe(expected)
  })

  it('are redacted in long, deep and odd values too', () => {
    const most = limits.logText.default
    expect(redactText('x'.repeat(most + 1))).toBe(`${'x'.repeat(most)}…`)
    const deep: Record<string, unknown> = {}
    deep.self = deep
    expect(JSON.stringify(redact(deep))).toContain('[…]')
    expect(redact([1n, Number.NaN, () => 1, new Error('token=abc'), null])).toEqual([
      '1',
      'NaN',
      '[function]',
      'token=[redacted]',
      null,
    ])
    expect(redact(Array.from({ length: 1000 }, () => 1))).toHaveLength(64)
  })
})

describe('events in the log', () => {
  const ends: (() => void)[] = []
  afterEach(() => {
    for (const end of ends.splice(0)) end()
  })
  const logging = (level: 'debug' | 'info' | 'error') => {
    const log = made({ level })
    ends.push(logEvents(log.log))
    return log
  }
  const call = (name = 'echo') =>
    new CallSpan({ method: 'tools/call', name, caller: { client: { name: 'c', version: '1' } } })

  it('are calls that failed because of the server, and all calls at level debug', () => {
    for (const level of ['info', 'debug'] as const) {
      const { events } = logging(level)
      call().succeed({})
      call().fail(new RpcError(-32602, 'x', { kind: 'tool_not_found' }))
      call().fail(new Error('disk on fire'))
      expect(events().map(line => [line.level, line.event, line.kind])).toEqual([
        ...(level === 'debug'
          ? [
              ['debug', 'call', undefined],
              ['debug', 'call failed', 'tool_not_found'],
            ]
          : []),
        ['warn', 'call failed', 'internal_error'],
      ])
      expect(events()[0]).toMatchObject({ method: 'tools/call', name: 'echo', client: 'c/1' })
      for (const end of ends.splice(0)) end()
    }
  })

  it('are a limited number of calls per second, and the number of the rest', () => {
    const { log, to } = logging('debug')
    const most = limits.logCallsPerSecond.default
    for (let i = 0; i < 3 * most; i++) call().succeed({})
    // Three seconds may have passed on a slow machine, but not without a word of it.
    expect(to.written.length + log.dropped).toBeGreaterThanOrEqual(3 * most)
    expect(to.written.length).toBeLessThan(3 * most + 3)
  })

  it('include instances, breakers, tools and the configuration', () => {
    const { events: lines } = logging('info')
    const a = { server: 'files', instance: 'a' }
    events.instanceStarted.publish({ ...a, pid: 7 })
    events.instanceExited.publish({ ...a, reason: 'exit 1' })
    events.instanceExited.publish(a)
    events.instanceRestarted.publish({ ...a, attempt: 1 })
    events.instanceQuarantined.publish({ ...a, reason: 'too often' })
    events.breakerChanged.publish({ ...a, from: 'closed', to: 'open', retryInMs: 5 })
    events.breakerChanged.publish({ ...a, from: 'open', to: 'half-open' })
    events.toolChanged.publish({ server: 'files', tool: 't', change: 'changed', action: 'blocked' })
    events.configReloaded.publish({ ok: false, problems: ['token: abc'] })
    events.sessionOpened.publish({ session: 1 })
    events.limitRefused.publish({ limit: 'perSecond', scope: 'all' })
    expect(lines().map(({ level, event }) => `${level} ${event}`)).toEqual([
      'info instance started',
      'warn instance exited',
      'info instance exited',
      'warn instance restarted',
      'error instance quarantined',
      'warn breaker changed',
      'info breaker changed',
      'warn tool changed',
      'error configuration reloaded',
    ])
    expect(lines().at(-1).problems).toEqual(['token: [redacted]'])
  })

  it('include sessions, limits and server requests at level debug', () => {
    const { events: lines } = logging('debug')
    events.sessionOpened.publish({ session: 1, caller: { client: { name: 'c', version: '1' } } })
    events.sessionClosed.publish({ session: 1, durationMs: 5 })
    events.limitRefused.publish({ limit: 'perSecond', scope: 'all' })
    events.serverRequestSent.publish({ server: 'files', method: 'elicitation/create' })
    expect(lines().map(({ event }) => event)).toEqual([
      'session opened',
      'session closed',
      'limit reached',
      'server request sent',
    ])
  })

  it('are subscribed to only while they are written', () => {
    logging('error')
    expect(events.sessionOpened.hasSubscribers).toBe(false)
    for (const end of ends.splice(0)) end()
    expect(Object.values(events).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([])
  })
})
