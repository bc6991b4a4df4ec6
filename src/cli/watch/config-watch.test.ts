import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pollOptions } from '../../../test/support/poll-options.ts'
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

/** Replaces the file atomically, so that no reader sees half of it. */
async function put(text: string): Promise<void> {
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

type Outcome = RouterConfig | ConfigError

/** Records the outcomes that a watch reports, and waits for them. */
class Outcomes {
  readonly all: Outcome[] = []
  #waiting: (() => void)[] = []

  readonly record = (outcome: Outcome): void => {
    this.all.push(outcome)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async until(isIt: (outcome: Outcome) => boolean): Promise<Outcome> {
    for (;;) {
      const found = this.all.find(isIt)
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

async function watched(outcomes: Outcomes, options: Partial<ConfigWatchOptions> = {}, at = path) {
  const watching = await watchConfig(at, {
    env: {},
    onChange: outcomes.record,
    debounceMs: 5,
    ...options,
  })
  opened.push(watching)
  return watching
}

test('reports a file that is overwritten', async () => {
  const outcomes = new Outcomes()
  const watching = await watched(outcomes)
  expect(watching.config.router.name).toBe('first')
  await writeFile(path, named('second'))
  await outcomes.called('second')
  expect(watching.config.router.name).toBe('second')
})

test('reports a file that is replaced, every time', async () => {
  const outcomes = new Outcomes()
  await watched(outcomes)
  for (const name of ['second', 'third', 'fourth']) {
    await put(named(name))
    await outcomes.called(name)
  }
})

test('a hundred quick rewrites end in the last state', async () => {
  const outcomes = new Outcomes()
  const watching = await watched(outcomes)
  for (let at = 0; at < 100; at++) {
    const text = named(`state-${at}`)
    await (at % 2 === 0 ? put(text) : writeFile(path, text))
  }
  await outcomes.called('state-99')
  expect(outcomes.all.at(-1)).toBe(watching.config)
  expect(watching.config.router.name).toBe('state-99')
})

test('never reads a half-written file if files are replaced', async () => {
  const outcomes = new Outcomes()
  await watched(outcomes)
  for (let at = 0; at < 50; at++) await put(named(`state-${at}`))
  await outcomes.called('state-49')
  expect(outcomes.all.filter(outcome => outcome instanceof ConfigError)).toEqual([])
})

test('an invalid file changes nothing and is reported once with its issues', async () => {
  const outcomes = new Outcomes()
  const watching = await watched(outcomes)
  await put('{"mcpServers": {},\n"nam": "x"}')
  const failure = await outcomes.failed()
  expect(failure).toMatchObject({ file: path, issues: [{ line: 2, column: 1, path: 'nam' }] })
  expect(watching.config.router.name).toBe('first')
  await put(named('second'))
  await outcomes.called('second')
  expect(outcomes.all).toHaveLength(2)
})

test('a deleted file changes nothing, is reported, and may come back', async () => {
  const outcomes = new Outcomes()
  const watching = await watched(outcomes)
  await rm(path)
  expect(await outcomes.failed()).toMatchObject({
    message: expect.stringContaining('no such file'),
  })
  expect(watching.config.router.name).toBe('first')
  await put(named('second'))
  await outcomes.called('second')
})

test('polls after the folder was deleted, until it is there again', async () => {
  const outcomes = new Outcomes()
  await watched(outcomes, { pollMs: 5 })
  await rm(folder, { recursive: true })
  await outcomes.failed()
  await mkdir(folder)
  await put(named('second'))
  await outcomes.called('second')
})

test('watches the target of a link, and the new target after the link changes', async () => {
  const outcomes = new Outcomes()
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
  await watched(outcomes, {}, link)
  await writeFile(join(one, 'file'), named('one, changed'))
  await outcomes.called('one, changed')
  await symlink(join(other, 'file'), `${link}.new`)
  await rename(`${link}.new`, link)
  await outcomes.called('other')
  await writeFile(join(other, 'file'), named('other, changed'))
  await outcomes.called('other, changed')
})

test.each([
  ['config.yaml', (name: string) => `name: ${name}\nlisten: "stdio:"\nmcpServers: {}\n`],
  ['config.toml', (name: string) => `name = "${name}"\nlisten = "stdio:"\n[mcpServers]\n`],
])('watches %s', async (file, textOf) => {
  const outcomes = new Outcomes()
  const other = join(folder, file)
  await writeFile(other, textOf('first'))
  const watching = await watched(outcomes, {}, other)
  expect(watching.config.router.name).toBe('first')
  await writeFile(other, textOf('second'))
  await outcomes.called('second')
})

test('does not report other files of the folder, nor unchanged text', async () => {
  const outcomes = new Outcomes()
  await watched(outcomes)
  await writeFile(join(folder, 'other.json'), '{')
  await put(named('first'))
  await put(named('last'))
  await outcomes.called('last')
  expect(outcomes.all).toHaveLength(1)
})

test('calls of the callback do not overlap', async () => {
  const outcomes = new Outcomes()
  let running = 0
  let max = 0
  await watched(outcomes, {
    onChange: async outcome => {
      max = Math.max(max, ++running)
      await writeFile(`${path}.seen`, '')
      if (!(outcome instanceof ConfigError) && outcome.router.name === 'second') {
        await put(named('third'))
      }
      running--
      outcomes.record(outcome)
    },
  })
  await put(named('second'))
  await outcomes.called('third')
  expect(max).toBe(1)
})

test('a callback that throws is reported, and watching continues', async () => {
  const outcomes = new Outcomes()
  const errors: unknown[] = []
  await watched(outcomes, {
    onChange: outcome => {
      outcomes.record(outcome)
      throw new Error('from the callback')
    },
    onError: error => errors.push(error),
  })
  await put(named('second'))
  await outcomes.called('second')
  await put(named('third'))
  await outcomes.called('third')
  expect(errors[0]).toMatchObject({ message: 'from the callback' })
})

test('a file that is invalid at first is rejected, and nothing is watched', async () => {
  const before = watches()
  await put('{')
  await expect(watched(new Outcomes())).rejects.toThrow(ConfigError)
  await vi.waitUntil(() => watches() === before, pollOptions)
})

test('closing leaves nothing open, and is allowed twice and within the callback', async () => {
  const before = watches()
  const outcomes = new Outcomes()
  const watching: ConfigWatch = await watched(outcomes, {
    onChange: async outcome => {
      await watching.close()
      outcomes.record(outcome)
    },
  })
  expect(watches()).toBeGreaterThan(before)
  await put(named('second'))
  await outcomes.called('second')
  await watching.close()
  await vi.waitUntil(() => watches() === before, pollOptions)
  const timers = active('Timeout')
  watching.check()
  expect(active('Timeout')).toBe(timers)
})

test('uses the limits without options', async () => {
  const outcomes = new Outcomes()
  await watched(outcomes, { debounceMs: undefined, pollMs: undefined })
  await put(named('second'))
  await outcomes.called('second')
  expect(limits.configDebounceMs.default).toBeLessThan(limits.configPollMs.default)
})

const watches = (): number => active('FSEventWrap')

/** Counts the active resources of a kind. */
function active(kind: string): number {
  return process.getActiveResourcesInfo().filter(name => name === kind).length
}
