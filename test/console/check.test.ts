import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { upCheck } from '../../src/cli/up/console/check.ts'
import { Checks } from '../../src/console/snapshots/checks.ts'
import type { ChecksAnswer } from '../../src/console/wire.ts'
import { readConfig } from '../../src/router/config/read.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { postJson, readJson, serveConsole } from './setup.ts'

describe('the console of trunkline up', () => {
  let served: Awaited<ReturnType<typeof serveConsole>>
  beforeAll(async () => {
    const program = "console.error('token=sk-canary-93'); process.exit(3)"
    const servers = {
      broken: { command: process.execPath, args: ['-e', program] },
      off: { command: 'none', disabled: true },
    }
    const config = readConfig(JSON.stringify({ servers }), { env: {} })
    served = await serveConsole({
      check: upCheck({ config: () => config, addresses: () => [served.address] }),
    })
  })
  afterAll(() => served.close())
  // The check: the answer of this route.
  const read = async () => (await readJson(served, 'api/checks')) as ChecksAnswer
  const ended = async (name: string) => {
    expect((await postJson(served, `api/checks/${name}/run`, {})).status).toBe(200)
    const found = async () => (await read()).reports.find(({ target }) => target === name)
    await expect.poll(async () => (await found())?.ms, { timeout: 120_000 }).toBeDefined()
    return found()
  }

  it('checks the router as callers reach it', { timeout: 150_000 }, async () => {
    expect((await read()).targets).toEqual(['router', 'broken'])
    const report = await ended('router')
    expect(report?.problem).toBeUndefined()
    expect(report?.steps.map(({ step }) => step)).toContain('handshake')
    expect(report?.steps.filter(({ status }) => status === 'fail')).toEqual([])
  })

  it('says why a server cannot be checked, without its secrets', { timeout: 150_000 }, async () => {
    const report = await ended('broken')
    const failed = report?.steps.filter(({ status }) => status === 'fail') ?? []
    expect(failed.length).toBeGreaterThan(0)
    expect(failed[0]?.findings[0]?.advice).toBeDefined()
    expect(JSON.stringify(report)).not.toContain('sk-canary-93')
  })

  it('refuses what cannot be checked', async () => {
    expect((await postJson(served, 'api/checks/nothing/run', {})).status).toBe(404)
    expect((await postJson(served, 'api/checks/off/run', {})).status).toBe(404)
    expect((await postJson(served, 'api/checks/router/stop', {})).status).toBe(404)
  })
})

describe('checks', () => {
  const names = Array.from({ length: limits.consoleChecks.default + 1 }, (_, at) => `s${at}`)
  const endless = {
    targets: () => names,
    run: (_: string, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
  }
  const problems = (checks: Checks) => checks.read().reports.map(({ problem }) => problem)

  it('are limited in number, and each runs once at a time', () => {
    const checks = new Checks(endless, fakeClock())
    for (const name of names.slice(0, -1)) checks.start(name)
    expect(() => checks.start(names.at(0) ?? '')).toThrow(/already/)
    expect(() => checks.start(names.at(-1) ?? '')).toThrow(/wait for one/)
    checks.close()
    expect(checks.read().reports).toEqual([])
  })

  it('show texts up to the limit, without secrets', async () => {
    const message = `token=sk-1 ${'x'.repeat(limits.consoleTextLength.default)}`
    const checks = new Checks({
      targets: () => ['s'],
      run: async (_, __, onStep) => {
        const finding = { status: 'ok', message, advice: message } as const
        onStep({ step: 'a', question: '?', status: 'ok', findings: [finding] })
      },
    })
    checks.start('s')
    await expect.poll(() => checks.read().reports[0]?.ms).toBeDefined()
    const [finding] = checks.read().reports[0]?.steps[0]?.findings ?? []
    expect(finding?.message.length).toBeLessThanOrEqual(limits.consoleTextLength.default)
    expect(JSON.stringify(finding)).not.toContain('sk-1')
  })

  it('are stopped when they take too long, or by the person', async () => {
    const clock = fakeClock()
    const checks = new Checks(endless, clock)
    checks.start('s0')
    clock.advance(limits.consoleCheckMs.default)
    await expect.poll(() => problems(checks)).toEqual(['the check took longer than 300 s'])
    checks.start('s0')
    checks.stop('s0')
    await expect.poll(() => problems(checks)).toEqual(['the check was stopped'])
  })
})

test('a console without an engine says so', () => {
  const checks = new Checks(undefined)
  expect(checks.read()).toEqual({ isAvailable: false, targets: [], reports: [] })
  expect(() => checks.start('router')).toThrow(/nothing to check/)
})
