import { afterEach, describe, expect, test } from 'vitest'
import { type FakeClock, fakeClock } from '../../testing/fake-clock.ts'
import { type Deferred, deferred } from '../../util/promises.ts'
import { RedisConnection } from './connection.ts'
import { redisEngine } from './engine.ts'
import { redisKeys } from './keys.ts'
import { EngineReplyError, type RawConnection } from './raw-connection.ts'
import { singleEngine } from './topology/commands.ts'

/** A connection whose replies the test gives. */
interface ScriptedConnection extends RawConnection {
  readonly sent: { readonly args: readonly string[]; readonly reply: Deferred<unknown> }[]
  readonly connected: Deferred<void>
  isDestroyed: boolean
  lose(error: Error): void
}

const connections: RedisConnection[] = []
afterEach(() => {
  for (const connection of connections.splice(0)) connection.close()
})

function setUp(clock: FakeClock = fakeClock()) {
  const made: ScriptedConnection[] = []
  const events: string[] = []
  const connection = new RedisConnection({
    name: 'redis://engine',
    clock,
    open: onLost => {
      const raw: ScriptedConnection = {
        sent: [],
        connected: deferred(),
        isDestroyed: false,
        connect: () => raw.connected.promise,
        send: args => {
          const reply = deferred<unknown>()
          raw.sent.push({ args, reply })
          if (args[0] === 'PING') reply.resolve('PONG')
          return reply.promise
        },
        subscribe: async () => {},
        unsubscribe: async () => {},
        destroy: () => {
          raw.isDestroyed = true
        },
        lose: onLost,
      }
      made.push(raw)
      return raw
    },
    onUp: () => events.push('up'),
    onFailedAttempt: () => {},
    onDown: () => events.push('down'),
  })
  connections.push(connection)
  void connection.start()
  return { connection, clock, made, events, last: () => made.at(-1) ?? fail() }
}

/** Connects, as `setUp` does not. */
async function setUpConnected() {
  const parts = setUp()
  parts.last().connected.resolve()
  await settled()
  expect(parts.events).toEqual(['up'])
  return parts
}

function fail(): never {
  throw new Error('no connection was made')
}

/** Lets promises that can settle do so. */
const settled = () => new Promise(resolve => setImmediate(resolve))

/** Returns the code with which a promise rejects. */
const codeOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    error => error.code,
  )

describe('a command', () => {
  test('settles at its deadline, as unknown, whatever the engine does', async () => {
    const { connection, clock } = await setUpConnected()
    let code: string | undefined
    void codeOf(connection.send(['GET', 'a'])).then(result => {
      code = result
    })
    clock.advance(299)
    await settled()
    expect(code).toBeUndefined()
    clock.advance(50)
    await settled()
    expect(code).toBe('unknown')
  })

  test('is answered even if the one before missed its deadline', async () => {
    const { connection, clock, last } = await setUpConnected()
    const first = codeOf(connection.send(['GET', 'a']))
    clock.advance(350)
    expect(await first).toBe('unknown')
    const second = connection.send(['GET', 'b'])
    last().sent.at(-2)?.reply.resolve('late')
    last().sent.at(-1)?.reply.resolve('B')
    expect(await second).toBe('B')
    const third = codeOf(connection.send(['GET', 'c']))
    clock.advance(350)
    expect([await third, connection.isUp]).toEqual(['unknown', true])
  })

  test('is answered if its reply had arrived while this process was busy', async () => {
    const { connection, clock, last } = await setUpConnected()
    const sent = connection.send(['GET', 'a'])
    // Timers run first, and only then what has arrived is read.
    clock.advance(305)
    last().sent.at(-1)?.reply.resolve('A')
    expect(await sent).toBe('A')
    expect(connection.isUp).toBe(true)
  })

  test('fails at once while there is no connection', async () => {
    const { connection } = setUp()
    expect(await codeOf(connection.send(['GET', 'a']))).toBe('down')
  })

  test('is unknown if the connection is lost after it was sent', async () => {
    const { connection, last, events } = await setUpConnected()
    const sent = codeOf(connection.send(['GET', 'a']))
    last().lose(new Error('ECONNRESET'))
    expect(await sent).toBe('unknown')
    expect(await codeOf(connection.send(['GET', 'a']))).toBe('down')
    expect(events).toEqual(['up', 'down'])
  })

  test('is refused if too many are in flight', async () => {
    const { connection } = await setUpConnected()
    const sent = Array.from({ length: 1000 }, () => codeOf(connection.send(['GET', 'a'])))
    expect(await codeOf(connection.send(['GET', 'a']))).toBe('down')
    connection.close()
    expect(new Set(await Promise.all(sent))).toEqual(new Set(['unknown']))
  })

  test('is refused if too many bytes are in flight, unless it is alone', async () => {
    const { connection, last } = await setUpConnected()
    const large = connection.send(['SET', 'a', 'x'.repeat(9 * 2 ** 20)])
    expect(await codeOf(connection.send(['GET', 'a']))).toBe('down')
    last().sent.at(-1)?.reply.resolve('OK')
    expect(await large).toBe('OK')
    const small = connection.send(['GET', 'a'])
    last().sent.at(-1)?.reply.resolve('A')
    expect(await small).toBe('A')
  })
})

describe('the connection', () => {
  test('is replaced after two missed deadlines', async () => {
    const { connection, clock, made, events } = await setUpConnected()
    for (const _ of [1, 2]) {
      const sent = codeOf(connection.send(['GET', 'a']))
      clock.advance(350)
      expect(await sent).toBe('unknown')
    }
    expect(made[0]?.isDestroyed).toBe(true)
    expect(events).toEqual(['up', 'down'])
    await settled()
    expect(made).toHaveLength(2)
    made[1]?.connected.resolve()
    await settled()
    expect(events).toEqual(['up', 'down', 'up'])
  })

  test('is given up if it takes too long, and made again with more time, after a growing delay', async () => {
    const { clock, made } = setUp()
    for (let attempt = 1; attempt <= 6; attempt++) {
      expect(made).toHaveLength(attempt)
      const timeoutMs = [500, 1000][attempt - 1] ?? 2000
      clock.advance(timeoutMs - 1)
      await settled()
      expect(made.at(-1)?.isDestroyed).toBe(false)
      clock.advance(1)
      await settled()
      expect(made.at(-1)?.isDestroyed).toBe(true)
      clock.advance(400)
      await settled()
    }
  })

  test('does not count as up before the engine answers', async () => {
    const { connection, last, clock, made } = setUp()
    const raw = last()
    const { send } = raw
    raw.send = args => {
      const reply = send(args)
      return args[0] === 'PING' ? Promise.reject(new EngineReplyError('LOADING data')) : reply
    }
    raw.connected.resolve()
    await settled()
    expect([connection.isUp, raw.isDestroyed]).toEqual([false, true])
    clock.advance(400)
    await settled()
    made[1]?.connected.resolve()
    await settled()
    expect(connection.isUp).toBe(true)
  })

  test('leaves no timer when it is closed', async () => {
    const { connection, clock } = await setUpConnected()
    const sent = codeOf(connection.send(['GET', 'a']))
    connection.close()
    expect(await sent).toBe('unknown')
    expect(await codeOf(connection.send(['GET', 'a']))).toBe('closed')
    expect(clock.pending).toBe(0)
  })

  test('leaves no timer when it is closed between attempts', async () => {
    const { connection, clock, last } = setUp()
    last().connected.reject(new Error('ECONNREFUSED'))
    await settled()
    expect(clock.pending).toBe(1)
    connection.close()
    await settled()
    expect(clock.pending).toBe(0)
  })
})

describe('an error reply', () => {
  test.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", 'full', false],
    ["READONLY You can't write against a read only replica.", 'down', true],
    ['LOADING Redis is loading the dataset in memory', 'down', true],
    ['MASTERDOWN Link with MASTER is down', 'down', true],
    ['BUSY Redis is busy running a script.', 'down', false],
    ['MOVED 3999 127.0.0.1:6381', 'down', false],
    ['NOAUTH Authentication required.', 'down', false],
    ["NOPERM this user has no permissions to run the 'get' command", 'down', false],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'unknown', false],
    ['ERR Error running script', 'unknown', false],
  ])('%s', async (text, code, isReplaced) => {
    const { connection, last, events } = await setUpConnected()
    const sent = codeOf(connection.send(['SET', 'a', 'b']))
    last().sent.at(-1)?.reply.reject(new EngineReplyError(text))
    expect(await sent).toBe(code)
    await settled()
    expect(events.includes('down')).toBe(isReplaced)
  })
})

describe('a script', () => {
  const script = { text: 'return 1' }

  test('is named by its hash, and sent whole to an engine that does not know it', async () => {
    const { connection, clock, last } = await setUpConnected()
    const engine = redisEngine(redisKeys('c'), singleEngine(connection), clock)
    const result = engine.run(script, ['k'], ['a', 1])
    await expect.poll(() => last().sent.at(-1)?.args.slice(0, 1)).toEqual(['EVALSHA'])
    const hash = 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db'
    expect(last().sent.at(-1)?.args).toEqual(['EVALSHA', hash, '1', 'k', 'a', '1'])
    last().sent.at(-1)?.reply.reject(new EngineReplyError('NOSCRIPT No matching script.'))
    await settled()
    expect(last().sent.at(-1)?.args).toEqual(['EVAL', 'return 1', '1', 'k', 'a', '1'])
    last().sent.at(-1)?.reply.resolve(1)
    expect(await result).toBe(1)
  })

  test('has one deadline for both attempts', async () => {
    const { connection, clock, last } = await setUpConnected()
    const engine = redisEngine(redisKeys('c'), singleEngine(connection), clock)
    const code = codeOf(engine.run(script, ['k'], []))
    await expect.poll(() => last().sent.length).toBe(2)
    clock.advance(200)
    last().sent.at(-1)?.reply.reject(new EngineReplyError('NOSCRIPT No matching script.'))
    await settled()
    clock.advance(150)
    expect(await code).toBe('unknown')
  })
})
