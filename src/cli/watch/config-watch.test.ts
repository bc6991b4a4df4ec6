import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { patience } from '../../../test/support/patience.ts'
import { ConfigError } from '../../router/config/issue.ts'
import type { RouterConfig } from '../../router/config/read.ts'
import { limits } from '../../util/limits/limits.ts'
import { type ConfigWatch, type ConfigWatchOptions, watchConfig } from './config-watch.ts'

let folder = ''
let path = ''
const opened: ConfigWatch[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-watch-'))
  path = join(folder, 'trunkline.json')
  await writeFile(path, named('first'))
})

afterEach(async () => {
  for (const watching of opened.splice(0)) await watching.close()
  await rm(folder, { recursive: true, force: true })
})

const named = (name: string): string => JSON.stringify({ mcpServers: {}, name })

/** Puts a file into its place at once, so that nobody finds half of it. */
async function put(text: string): Promise<void> {
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

type Outcome = RouterConfig | ConfigError

/** What a watch tells, to be waited for. */
class Told {
  readonly outcomes: Outcome[] = []
  #waiting: (() => void)[] = []

  readonly hear = (outcome: Outcome): void => {
    this.outcomes.push(outcome)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async until(isIt: (outcome: Outcome) => boolean): Promise<Outcome> {
    for (;;) {
      const found = this.outcomes.find(isIt)
      if (found !== undefined) return found
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
  }

  called(name: string): Promise<Outcome> {
    return this.until(outcome => !(outcome instanceof ConfigError) && outcome.router.name === name)
  }

  failed(): Promise<Outcome> {
    return this.until(outcome => outcome instanceof ConfigError)
  }
}

async function watched(told: Told, options: Partial<ConfigWatchOptions> = {}, at = path) {
  const watching = await watchConfig(at, { env: {}, onChange: told.hear, quietMs: 5, ...options })
  opened.push(watching)
  return watching
}

test('a file that is written again is told', async () => {
  const told = new Told()
  const watching = await watched(told)
  expect(watching.config.router.name).toBe('first')
  await writeFile(path, named('second'))
  await told.called('second')
  expect(watching.config.router.name).toBe('second')
})

test('a file that another one takes the place of is told, again and again', async () => {
  const told = new Told()
  await watched(told)
  for (const name of ['second', 'third', 'fourth']) {
    await put(named(name))
    await told.called(name)
  }
})

test('a hundred quick rewrites end in the last state', async () => {
  const told = new Told()
  const watching = await watched(told)
  for (let at = 0; at < 100; at++) {
    const text = named(`state-${at}`)
    await (at % 2 === 0 ? put(text) : writeFile(path, text))
  }
  await told.called('state-99')
  expect(told.outcomes.at(-1)).toBe(watching.config)
  expect(watching.config.router.name).toBe('state-99')
})

test('of files that take the place of each other none is found half written', async () => {
  const told = new Told()
  await watched(told)
  for (let at = 0; at < 50; at++) await put(named(`state-${at}`))
  await told.called('state-49')
  expect(told.outcomes.filter(outcome => outcome instanceof ConfigError)).toEqual([])
})

test('a bad file changes nothing and is told with its issues, once', async () => {
  const told = new Told()
  const watching = await watched(told)
  await put('{"mcpServers": {},\n"nam": "x"}')
  const failure = await told.failed()
  expect(failure).toMatchObject({ file: path, issues: [{ line: 2, column: 1, path: 'nam' }] })
  expect(watching.config.router.name).toBe('first')
  await put(named('second'))
  await told.called('second')
  expect(told.outcomes).toHaveLength(2)
})

test('a file that is gone changes nothing, is told, and may come back', async () => {
  const told = new Told()
  const watching = await watched(told)
  await rm(path)
  expect(await told.failed()).toMatchObject({ message: expect.stringContaining('there is none') })
  expect(watching.config.router.name).toBe('first')
  await put(named('second'))
  await told.called('second')
})

test('a folder that goes and comes with its file is looked at from time to time', async () => {
  const told = new Told()
  await watched(told, { pollMs: 5 })
  await rm(folder, { recursive: true })
  await told.failed()
  await mkdir(folder)
  await put(named('second'))
  await told.called('second')
})

test('a file behind a link is watched where it is, and where the link then points', async () => {
  const told = new Told()
  const [one, other] = [join(folder, 'one'), join(folder, 'other')]
  for (const [at, name] of [
    [one, 'one'],
    [other, 'other'],
  ] as const) {
    await mkdir(at)
    await writeFile(join(at, 'file'), named(name))
  }
  const link = join(folder, 'link.json')
  await symlink(join(one, 'file'), link)
  await watched(told, {}, link)
  await writeFile(join(one, 'file'), named('one, changed'))
  await told.called('one, changed')
  await symlink(join(other, 'file'), `${link}.new`)
  await rename(`${link}.new`, link)
  await told.called('other')
  await writeFile(join(other, 'file'), named('other, changed'))
  await told.called('other, changed')
})

test('other files of the folder, and the same text again, are not told', async () => {
  const told = new Told()
  await watched(told)
  await writeFile(join(folder, 'other.json'), '{')
  await put(named('first'))
  await put(named('last'))
  await told.called('last')
  expect(told.outcomes).toHaveLength(1)
})

test('the callback is not called again before it is done', async () => {
  const told = new Told()
  let running = 0
  let most = 0
  await watched(told, {
    onChange: async outcome => {
      most = Math.max(most, ++running)
      await writeFile(`${path}.seen`, '')
      if (!(outcome instanceof ConfigError) && outcome.router.name === 'second') {
        await put(named('third'))
      }
      running--
      told.hear(outcome)
    },
  })
  await put(named('second'))
  await told.called('third')
  expect(most).toBe(1)
})

test('a callback that throws is told of, and does not end the watching', async () => {
  const told = new Told()
  const errors: unknown[] = []
  await watched(told, {
    onChange: outcome => {
      told.hear(outcome)
      throw new Error('from the callback')
    },
    onError: error => errors.push(error),
  })
  await put(named('second'))
  await told.called('second')
  await put(named('third'))
  await told.called('third')
  expect(errors[0]).toMatchObject({ message: 'from the callback' })
})

test('a file that is bad at first is refused, and nothing is watched', async () => {
  const before = watches()
  await put('{')
  await expect(watched(new Told())).rejects.toThrow(ConfigError)
  await vi.waitUntil(() => watches() === before, patience)
})

test('closing leaves nothing open, may be done twice, and within the callback', async () => {
  const before = watches()
  const told = new Told()
  const watching: ConfigWatch = await watched(told, {
    onChange: async outcome => {
      await watching.close()
      told.hear(outcome)
    },
  })
  expect(watches()).toBeGreaterThan(before)
  await put(named('second'))
  await told.called('second')
  await watching.close()
  await vi.waitUntil(() => watches() === before, patience)
  const timers = active('Timeout')
  watching.check()
  expect(active('Timeout')).toBe(timers)
})

test('the limits are what holds without options', async () => {
  const told = new Told()
  await watched(told, { quietMs: undefined, pollMs: undefined })
  await put(named('second'))
  await told.called('second')
  expect(limits.configQuietMs.default).toBeLessThan(limits.configPollMs.default)
})

const watches = (): number => active('FSEventWrap')

/** What of a kind keeps this process from ending. */
function active(kind: string): number {
  return process.getActiveResourcesInfo().filter(name => name === kind).length
}
