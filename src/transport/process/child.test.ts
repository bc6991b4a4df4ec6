import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { pollOptions } from '../../../test/support/poll-options.ts'
import { isAlive as isRunning } from '../../../test/support/processes.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { type ChildChannel, type ChildCommand, type ChildOptions, childChannel } from './child.ts'

const program = fileURLToPath(new URL('../../../test/fixtures/child.js', import.meta.url))

interface Life {
  readonly channel: ChildChannel
  readonly arrivals: Decoded[]
  readonly ends: (Error | undefined)[]
  /** The params of the first notification of this name. */
  received(method: string): Promise<readonly unknown[]>
  ended(): Promise<Error | undefined>
}

const lives: Life[] = []

afterEach(async () => {
  await Promise.all(lives.splice(0).map(life => life.channel.close()))
})

async function start(
  args: readonly string[],
  options: ChildOptions = {},
  command: Partial<ChildCommand> = {},
): Promise<Life> {
  const channel = await childChannel(
    { command: process.execPath, args: [program, ...args], ...command },
    { endMs: 100, termMs: 100, ...options },
  )
  const arrivals: Decoded[] = []
  const ends: (Error | undefined)[] = []
  const life: Life = {
    channel,
    arrivals,
    ends,
    received: method =>
      vi.waitFor(() => {
        const found = arrivals.find(each => each.type === 'notification' && each.method === method)
        if (found?.type !== 'notification') throw new Error(`${method} was not received`)
        return found.params as unknown[]
      }, pollOptions),
    ended: () =>
      vi.waitFor(() => {
        expect(ends).toHaveLength(1)
        return ends[0]
      }, pollOptions),
  }
  lives.push(life)
  channel.open({
    receive: arrival => {
      arrivals.push(arrival)
    },
    closed: cause => {
      ends.push(cause)
    },
  })
  return life
}

const note = (method: string): Message => ({ type: 'notification', method })

const isAlive = (pid: unknown): boolean => isRunning(Number(pid))

const isGone = (pid: unknown): Promise<void> =>
  vi.waitFor(() => expect(isAlive(pid)).toBe(false), pollOptions)

describe('a child process', () => {
  test('is talked to over its standard input and output, and leaves when it is closed', async () => {
    proves('L9')
    const { channel, received, ends } = await start(['echo'], { endMs: 10_000 })
    expect(isAlive(channel.pid)).toBe(true)
    void channel.send(note('hello'))
    await received('hello')
    await Promise.all([channel.close(), channel.close()])
    expect(isAlive(channel.pid)).toBe(false)
    await Promise.resolve()
    expect(ends).toEqual([undefined])
    expect(() => channel.send(note('late'))).toThrow(expect.objectContaining({ code: 'closed' }))
  })

  test('gets everything that was sent before it was closed', async () => {
    const { channel, arrivals, received } = await start(['echo'], { endMs: 10_000 })
    for (let i = 0; i < 5000; i++) void channel.send(note(`number ${i}`))
    await received('number 4999')
    expect(arrivals).toHaveLength(5000)
  })

  test('is given a few variables of this process, and those it was meant to have', async () => {
    proves('B23')
    vi.stubEnv('SECRET_TOKEN', 'hunter2')
    vi.stubEnv('LC_TIME', 'de_DE')
    const command = { env: { GREETING: 'hi', HOME: undefined }, cwd: '/' }
    const { received } = await start(['environment'], {}, command)
    vi.unstubAllEnvs()
    const [env, cwd] = await received('environment')
    expect(env).toMatchObject({ GREETING: 'hi', LC_TIME: 'de_DE', PATH: process.env.PATH })
    expect(env).not.toHaveProperty('SECRET_TOKEN')
    expect(env).not.toHaveProperty('HOME')
    expect(cwd).toBe('/')
  })

  test.each<[string, ChildCommand, RegExp]>([
    [
      'does not exist',
      { command: 'no-such-program-here' },
      /^starting "no-such-program-here": no such program in PATH: install it, or correct its name$/,
    ],
    [
      'has its arguments in its name',
      { command: 'node a.js' },
      /"command":"node","args":\["a.js"\]\?$/,
    ],
    ['does not exist at its path', { command: './no/such/file' }, /no such file$/],
    ['is no program', { command: '/' }, /starting "\/": permission denied: .*executable/],
    [
      'is to run in a folder that is missing',
      { command: process.execPath, cwd: '/no/such/folder' },
      /folder "\/no\/such\/folder"/,
    ],
    ['has an impossible name', { command: 'a\0b' }, /starting "a/],
    ['has too long arguments', { command: 'true', args: ['x'.repeat(1 << 23)] }, /"true".*E2BIG/],
  ])('that %s is refused by name', async (_, command, message) => {
    const before = process.listenerCount('exit')
    await expect(childChannel(command)).rejects.toMatchObject({
      name: 'ChannelError',
      code: 'refused',
      message: expect.stringMatching(message),
    })
    expect(process.listenerCount('exit')).toBe(before)
  })
})

describe('closing a child process', () => {
  test('sends SIGTERM to one that does not leave at the end of its input', async () => {
    proves('L9b')
    const { channel, received } = await start(['deaf'], { endMs: 1, termMs: 10_000 })
    const [pid] = await received('ready')
    await channel.close()
    expect(isAlive(pid)).toBe(false)
  })

  test('kills one that does not leave for SIGTERM either', async () => {
    proves('L9b')
    const { channel, received, ends } = await start(['stubborn'], { endMs: 1, termMs: 1 })
    const [pid] = await received('ready')
    await channel.close()
    expect(isAlive(pid)).toBe(false)
    expect(ends).toEqual([undefined])
  })

  test('waits for nothing where it has been killed', async () => {
    const clock = fakeClock()
    const { channel, received, ended } = await start(['stubborn'], { clock })
    const [pid] = await received('ready')
    channel.kill()
    expect(await ended()).toMatchObject({ message: expect.stringContaining('SIGKILL') })
    await channel.close()
    expect(isAlive(pid)).toBe(false)
    channel.kill()
  })

  test('ends what it has started, too', async () => {
    const { channel, received } = await start(['parent'], { endMs: 10_000, termMs: 20 })
    const [grandchild] = await received('ready')
    expect(isAlive(grandchild)).toBe(true)
    await channel.close()
    await isGone(grandchild)
  })

  test('does not wait for one that reads nothing', async () => {
    const { channel, received } = await start(['heedless'], { endMs: 1, termMs: 10_000 })
    const [pid] = await received('ready')
    void channel.send(note('x'.repeat(1 << 20)))
    await channel.close()
    expect(isAlive(pid)).toBe(false)
  })

  test('leaves no listener on this process', async () => {
    const count = (): number[] =>
      ['exit', 'SIGTERM', 'SIGINT', 'SIGHUP'].map(event => process.listenerCount(event))
    const before = count()
    const two = [await start(['echo']), await start(['echo'])]
    expect(count()).toEqual(before.map(listeners => listeners + 1))
    await Promise.all(two.map(life => life.channel.close()))
    expect(count()).toEqual(before)
  })
})

describe('a child process that ends by itself', () => {
  test('in the middle of a message: delivers the complete ones and reports the exit status', async () => {
    const { channel, arrivals, ended } = await start(['crash'])
    const cause = await ended()
    expect(arrivals).toMatchObject([{ method: 'whole' }])
    expect(cause).toMatchObject({
      code: 'closed',
      message: expect.stringMatching(/was killed by SIGKILL: the disk is on fire$/),
      cause: { code: 'framing' },
    })
    expect(channel.stderr).toBe('the disk is on fire\n')
    await isGone(channel.pid)
  })

  test.each(['0', '7'])('with code %s: reports the code and the line of stderr', async code => {
    const { ended } = await start(['quitter', code])
    expect(await ended()).toMatchObject({
      code: 'closed',
      message: `"${process.execPath}" exited with code ${code}: usage: quitter <what>`,
    })
  })

  test('is reported although a grandchild holds its output open, which is ended as well', async () => {
    const { channel, arrivals, received, ended } = await start(['deserter'], { termMs: 20 })
    const [grandchild] = await received('ready')
    void channel.send(note('go'))
    expect(await ended()).toMatchObject({ message: expect.stringContaining('exited with code 3') })
    expect(arrivals.at(-1)).toMatchObject({ method: 'last words', params: [99] })
    await isGone(grandchild)
    await channel.close()
  })

  test('is noticed by senders that wait, and by later ones', async () => {
    const { channel, received, ended } = await start(['heedless'], { highWaterBytes: 1000 })
    const [pid] = await received('ready')
    const room = channel.send(note('x'.repeat(1 << 20)))
    process.kill(Number(pid), 'SIGKILL')
    await expect(room).rejects.toMatchObject({ code: 'closed' })
    expect(await ended()).toMatchObject({ message: expect.stringContaining('SIGKILL') })
    expect(() => channel.send(note('late'))).toThrow(expect.objectContaining({ code: 'closed' }))
  })

  test('only in its output: is reported, and can be closed', async () => {
    const { channel, ended } = await start(['mute'], { endMs: 10_000 })
    expect(await ended()).toMatchObject({ message: expect.stringContaining('closed its output') })
    expect(isAlive(channel.pid)).toBe(true)
    await channel.close()
    expect(isAlive(channel.pid)).toBe(false)
  })
})

describe('the error output of a child process', () => {
  test('is always read, and its end is kept', async () => {
    let heardBytes = 0
    const onStderr = (text: string): void => {
      heardBytes += Buffer.byteLength(text)
    }
    const { channel, received } = await start(['flood'], { onStderr, stderrBytes: 1000 })
    await received('flooded')
    await vi.waitFor(() => expect(channel.stderr).toMatch(/^é+the end$/), pollOptions)
    expect(Buffer.byteLength(channel.stderr)).toBeGreaterThan(990)
    expect(Buffer.byteLength(channel.stderr)).toBeLessThanOrEqual(1000)
    expect(heardBytes).toBe(4 * (1 << 20) + 'the beginning'.length + 'the end'.length)
  })
})

describe('junk on the output of a child process', () => {
  test('is passed over and reported once', async () => {
    const onJunk = vi.fn()
    const { arrivals, received } = await start(['junk', '50'], { onJunk })
    await received('third')
    expect(arrivals).toMatchObject([{ method: 'first' }, { method: 'second' }, { method: 'third' }])
    expect(onJunk).toHaveBeenCalledTimes(1)
    expect(onJunk).toHaveBeenCalledWith(
      expect.objectContaining({ type: 'invalid', reason: 'json' }),
    )
  })

  test('is printed to stderr, once and without control characters, without onJunk', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { received } = await start(['junk', '50'])
    await received('third')
    const said = print.mock.calls
    print.mockRestore()
    expect(said).toEqual([
      [expect.stringMatching(/^trunkline: \P{Cc}*not JSON: \P{Cc}*Serve\P{Cc}*$/u)],
    ])
  })

  test('closes the channel when there is too much of it', async () => {
    const { channel, arrivals, ended } = await start(['junk', '50'], {
      junkLines: 20,
      onJunk: () => {},
    })
    expect(await ended()).toMatchObject({
      code: 'framing',
      message: expect.stringContaining('more than 20 lines that are not JSON'),
    })
    expect(arrivals).toMatchObject([{ method: 'first' }, { method: 'second' }])
    await channel.close()
    expect(isAlive(channel.pid)).toBe(false)
  })
})
