import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import type { EventStream, HttpReply } from '../../http/exchange.ts'
import { CallSpan } from '../../observe/call.ts'
import { events } from '../../observe/events.ts'
import { MetricRegistry } from '../../observe/metrics/registry.ts'
import { Router } from '../../router/router.ts'
import { limits } from '../../util/limits/limits.ts'
import { Playground } from '../play/playground.ts'
import { ClientList } from '../snapshots/clients.ts'
import type { ConsoleFrame } from '../wire.ts'
import { ChangeFeed } from './changes.ts'
import { Feeds } from './feeds.ts'
import { FigureFeed } from './figures.ts'
import { LogFeed } from './logs.ts'
import { Viewers } from './viewers.ts'

const feedsOf = (router: Router): Feeds =>
  new Feeds({
    router,
    registry: undefined,
    actions: 'all',
    people: 'shown',
    mayRecord: true,
    onRecording: () => {},
  })

test('failed calls are kept up to the limit', async () => {
  await using router = new Router()
  const feeds = feedsOf(router)
  for (let at = 0; at <= limits.consoleFailures.default; at++) {
    new CallSpan({ method: 'tools/call', name: `t${at}` }).end('error', 'timeout', -1)
  }
  expect(feeds.failures()).toHaveLength(limits.consoleFailures.default)
  expect(feeds.failures()[0]?.name).toBe('t1')
  feeds.close()
})

test('changes are kept up to the limit', () => {
  const feed = new ChangeFeed(() => 0)
  for (let at = 0; at <= limits.consoleChanges.default; at++) {
    events.instanceStarted.publish({ server: `s${at}`, instance: '0' })
  }
  expect(feed.list()).toHaveLength(limits.consoleChanges.default)
  expect(feed.list()[0]?.server).toBe('s1')
  feed.close()
})

test('log lines are kept up to the limit', () => {
  const feed = new LogFeed(() => 0)
  for (let at = 0; at <= limits.consoleLogLines.default; at++) {
    events.logWritten.publish({ level: 'info', what: `line ${at}`, fields: {} })
  }
  expect(feed.list()).toHaveLength(limits.consoleLogLines.default)
  expect(feed.list()[0]?.text).toBe('line 1')
  feed.close()
})

test('as many servers have figures of their own as the limit says', () => {
  const registry = new MetricRegistry()
  const calls = registry.number({
    name: 'trunkline_calls_total',
    help: 'calls',
    type: 'counter',
    labels: ['server', 'method', 'outcome'],
  })
  const feed = new FigureFeed(registry, () => performance.now())
  const most = limits.consoleFigureServers.default
  for (let at = 0; at <= most; at++) calls.at(`s${at}`, 'tools/call', 'ok').value = 1
  feed.sample()
  const [point] = feed.newest(1)
  const rates = Object.values(point?.servers ?? {}).map(({ calls: rate }) => rate)
  expect(rates).toHaveLength(most)
  // The sum has all of them.
  expect((point?.ok ?? 0) / (rates[0] ?? 1)).toBeCloseTo(most + 1)
  feed.close()
})

test('figures are kept by the second and by the minute', () => {
  // Reading it is slow, and this takes a day of samples.
  const memory = vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(1)
  const feed = new FigureFeed(new MetricRegistry(), () => 0)
  for (let at = 0; at < (limits.consoleFigureMinutes.default + 1) * 60; at++) feed.sample()
  const seconds = feed.newest(Number.POSITIVE_INFINITY)
  expect(seconds).toHaveLength(limits.consoleFigureSeconds.default)
  expect(feed.minutes()).toHaveLength(limits.consoleFigureMinutes.default)
  feed.close()
  memory.mockRestore()
})

describe('with time', () => {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
    })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('clients that call are listed up to the limit, for some time after they were looked at', () => {
    const clients = new ClientList()
    clients.list()
    const called = (name: string) => {
      const caller = { client: { name, version: '1' } }
      new CallSpan({ method: 'tools/list', caller }).end('ok')
    }
    for (let at = 0; at <= limits.consoleClients.default; at++) called(`c${at}`)
    expect(clients.list()).toHaveLength(limits.consoleClients.default)
    expect(clients.list().at(-1)?.name).toBe('c1')
    vi.advanceTimersByTime(limits.consoleLingerMs.default)
    expect(events.callStarted.hasSubscribers).toBe(false)
    clients.close()
  })

  /** A page that reads what it is sent, until it is told to stop reading. */
  function pageOf() {
    const sent: string[] = []
    const page = { sent, isSlow: false, isEnded: false, resume: (): void => {} }
    const stream: EventStream = {
      write: text => {
        sent.push(text)
        if (!page.isSlow) return undefined
        return new Promise<void>(resolve => {
          page.resume = () => {
            page.isSlow = false
            resolve()
          }
        })
      },
      end: () => {
        page.isEnded = true
      },
    }
    const reply = {
      isFinished: false,
      stream: () => stream,
      onDisconnect: () => {},
      send: () => {},
    } as unknown as HttpReply
    // The check: these are the members that viewers use.
    const frames = (): ConsoleFrame[] =>
      sent.flatMap(text => (text.startsWith('data: ') ? [JSON.parse(text.slice(6))] : []))
    return Object.assign(page, { reply, frames })
  }

  const open = (viewers: Viewers, page: ReturnType<typeof pageOf>, topics = '') =>
    viewers.open(new URLSearchParams({ topics }), page.reply, {})

  async function watched() {
    const router = new Router()
    const feeds = feedsOf(router)
    const playground = new Playground(router)
    const viewers = new Viewers(feeds, playground)
    const close = async () => {
      viewers.close()
      playground.close()
      feeds.close()
      await router.close()
    }
    return { feeds, viewers, close }
  }

  it('a page that reads too slowly misses frames, is told how many, and is closed in the end', async () => {
    const { viewers, close } = await watched()
    const page = pageOf()
    open(viewers, page)
    page.isSlow = true
    events.instanceStarted.publish({ server: 'a', instance: '0' })
    vi.advanceTimersByTime(limits.consoleFrameMs.default)
    const before = page.sent.length
    vi.advanceTimersByTime(4 * limits.consoleFrameMs.default)
    expect(page.sent).toHaveLength(before)
    page.resume()
    await vi.advanceTimersByTimeAsync(0)
    expect(page.frames().at(-1)).toEqual({ event: 'gap', frames: 4 })
    page.isSlow = true
    events.instanceStarted.publish({ server: 'b', instance: '0' })
    vi.advanceTimersByTime(limits.consoleStalledMs.default + 2 * limits.consoleFrameMs.default)
    expect(page.isEnded).toBe(true)
    expect(viewers.count).toBe(0)
    await close()
  })

  it('a page without news is sent a comment now and then', async () => {
    const { viewers, close } = await watched()
    const page = pageOf()
    open(viewers, page)
    const comments = () => page.sent.filter(text => text === ': alive\n\n').length
    vi.advanceTimersByTime(limits.consoleAliveMs.default)
    expect(comments()).toBe(0)
    vi.advanceTimersByTime(limits.consoleFrameMs.default)
    expect(comments()).toBe(1)
    await close()
  })

  it('a frame has as many lines of the log as the limit says, and counts the rest', async () => {
    const { viewers, close } = await watched()
    const page = pageOf()
    open(viewers, page, 'log')
    const most = limits.consoleFrameLines.default
    for (let at = 0; at < most + 7; at++) {
      events.logWritten.publish({ level: 'info', what: 'line', fields: {} })
    }
    vi.advanceTimersByTime(limits.consoleFrameMs.default)
    const frame = page.frames().findLast(({ event }) => event === 'log')
    expect(frame).toMatchObject({ left: 7 })
    expect(frame?.event === 'log' && frame.rows.length).toBe(most)
    await close()
  })

  it('calls are collected for some time after the last page that shows them', async () => {
    const { feeds, viewers, close } = await watched()
    const page = pageOf()
    open(viewers, page, 'calls')
    expect(feeds.calls.isCollecting).toBe(true)
    Object.assign(page.reply, { isFinished: true })
    vi.advanceTimersByTime(limits.consoleFrameMs.default)
    expect([viewers.count, feeds.calls.isCollecting]).toEqual([0, true])
    vi.advanceTimersByTime(limits.consoleLingerMs.default)
    expect(feeds.calls.isCollecting).toBe(false)
    await close()
  })
})
