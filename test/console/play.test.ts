import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import type { PlayFrame, PlayLists, RunUpdate } from '../../src/console/wire-play.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { playServer } from './play-server.ts'
import { postJson, readJson, serveConsole, watchFrames } from './setup.ts'

let served: Awaited<ReturnType<typeof serveConsole>>
beforeAll(async () => {
  served = await serveConsole({}, { servers: { demo: { server: playServer() } } })
})
afterAll(() => served.close())

let pages = 0

/** Opens a page with a playground. */
async function openPage(own = served) {
  const token = `a-page-of-the-tests-${++pages}`
  const stream = await watchFrames(own.base, own.page.key, 'play', token)
  const plays = (): PlayFrame[] =>
    stream.frames.flatMap(frame => (frame.event === 'play' ? [frame] : []))
  const post = (path: string, body: unknown = {}) =>
    postJson(own, `api/play/${token}/${path}`, body)
  const updates = (run: string): RunUpdate[] =>
    plays().flatMap(({ runs }) => runs.filter(each => each.run === run))
  const call = async (name: string, args: object = {}, more: object = {}): Promise<string> => {
    const params = { name, arguments: args }
    const { body } = await post('run', { method: 'tools/call', params, ...more })
    return String(body.run)
  }
  return {
    token,
    post,
    plays,
    updates,
    call,
    ended: async (run: string): Promise<RunUpdate> => {
      const found = () => updates(run).find(({ ms }) => ms !== undefined)
      await expect.poll(found, { timeout: 30_000 }).toBeDefined()
      return found() ?? { run }
    },
    question: async () => {
      const open = () => plays().at(-1)?.questions[0]
      await expect.poll(open, { timeout: 30_000 }).toBeDefined()
      return open() ?? { id: '', kind: 'form' as const, params: {}, leftMs: 0 }
    },
    close: stream.close,
  }
}

test('a page sees what callers see', async () => {
  const page = await openPage()
  // The check: the answer of this route.
  const lists = (await page.post('lists')).body as unknown as PlayLists
  expect(lists.problems).toEqual([])
  expect(lists.revisions[0]).toBe('2026-07-28')
  const names = served.router.tools().map(({ name }) => name)
  expect(lists.tools.map(({ name }) => name)).toEqual(names)
  expect(lists.prompts).toMatchObject([{ arguments: [{ name: 'name', required: true }] }])
  expect(lists.resources).toHaveLength(1)
  expect(lists.templates).toMatchObject([{ variables: ['id'] }])
  await page.close()
})

describe.each(['2026-07-28', '2025-11-25'])('calls in %s', revision => {
  it('return their result, which is compared with the output schema', async () => {
    const page = await openPage()
    const args = { path: 'a', by: { kind: 'sms', number: '1' } }
    const found = await page.ended(await page.call('demo__many', args, { revision }))
    expect(found).toMatchObject({ result: { structuredContent: { given: args } }, isChecked: true })
    expect(found.mismatch).toBeUndefined()
    const failed = await page.ended(await page.call('demo__fail', {}, { revision }))
    expect(failed.result).toMatchObject({ isError: true })
    await page.close()
  })

  it('report progress, and are cancelled at the server', async () => {
    const page = await openPage()
    const run = await page.call('demo__steps', {}, { revision })
    const progress = { progress: 1, total: 4, message: 'the first of four' }
    await expect.poll(() => page.updates(run), { timeout: 30_000 }).toMatchObject([{ progress }])
    expect((await page.post(`runs/${run}/cancel`)).status).toBe(200)
    expect((await page.ended(run)).error?.message).toContain('cancelled')
    await page.close()
  })

  it.each([
    ['ask', 'form', { action: 'accept', content: { sure: true } }, '"sure":true'],
    ['ask', 'form', { action: 'decline' }, 'decline'],
    ['visit', 'url', { action: 'accept' }, 'accept'],
    ['think', 'sample', { action: 'accept', content: '42' }, '42'],
  ])('of %s wait for the answer of the person: %s', async (tool, kind, answer, expected) => {
    const page = await openPage()
    const run = await page.call(`demo__${tool}`, {}, { revision })
    const question = await page.question()
    expect(question).toMatchObject({ kind, server: 'demo' })
    expect((await page.post(`answers/${question.id}`, answer)).status).toBe(200)
    expect(JSON.stringify((await page.ended(run)).result)).toContain(
      expected.replaceAll('"', '\\"'),
    )
    expect(page.plays().at(-1)?.questions).toEqual([])
    expect((await page.post(`answers/${question.id}`, answer)).status).toBe(404)
    await page.close()
  })
})

test('prompts, completion, resources and templates', async () => {
  const page = await openPage()
  const run = async (body: object) => {
    const { body: answer } = await page.post('run', body)
    return JSON.stringify((await page.ended(String(answer.run))).result)
  }
  const greet = { name: 'demo__greet', arguments: { name: 'Ada' } }
  expect(await run({ method: 'prompts/get', params: greet })).toContain('Hello, Ada!')
  const typed = { prompt: 'demo__greet', argument: 'name', value: 'A', context: {} }
  expect((await page.post('complete', typed)).body).toEqual({
    values: ['Ada', 'Alan'],
    hasMore: false,
  })
  // The check: the answer of this route.
  const lists = (await page.post('lists')).body as unknown as PlayLists
  const uri = lists.resources[0]?.uri
  expect(await run({ method: 'resources/read', params: { uri } })).toContain('text of note 1')
  const template = { uri: lists.templates[0]?.uriTemplate }
  const filled = { method: 'resources/read', params: template, variables: { id: '7' } }
  expect(await run(filled)).toContain('text of page 7')
  const raw = await run({ method: 'tools/list', params: {} })
  expect(raw).toContain('demo__echo')
  await page.close()
})

test('a value is compared with any schema', async () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const check = async (value: unknown) =>
    (await postJson(served, 'api/validate', { schema, value })).body
  expect(await check({ n: 1 })).toEqual({ issues: [] })
  expect(await check({ n: 'x' })).toMatchObject({ issues: [{ path: ['n'] }] })
  const broken = await postJson(served, 'api/validate', { schema: { type: 5 }, value: 1 })
  expect(broken.body).toMatchObject({ issues: [{ path: [] }] })
})

test.each([
  ['run', { params: {} }, /"method" must be a string/],
  ['run', { method: 'tools/call', params: [] }, /"params" must be an object/],
  ['run', { method: 'x', timeoutMs: 0 }, /"timeoutMs" must be a number/],
  ['run', { method: 'x', timeoutMs: limits.consoleRunMaxMs.default + 1 }, /"timeoutMs"/],
  ['run', { method: 'x', variables: { a: 1 } }, /"variables"/],
  ['run', { method: 'x', revision: 1 }, /"revision"/],
  ['answers/x', { action: 'perhaps' }, /accept, decline or cancel/],
  ['answers/x', { action: 'accept', content: 5 }, /"content"/],
  ['complete', { argument: 'a', value: 'b' }, /"prompt" or "template"/],
  ['complete', { prompt: 'a', value: 'b' }, /"argument"/],
])('%s refuses %j', async (path, body, message) => {
  const page = await openPage()
  const answer = await page.post(path, body)
  expect(answer.status).toBe(400)
  expect(JSON.stringify(answer.body).replaceAll('\\', '')).toMatch(message)
  await page.close()
})

test('a revision that the router does not serve is an error of the call', async () => {
  const page = await openPage()
  const run = await page.call('demo__echo', {}, { revision: '1999-01-01' })
  expect((await page.ended(run)).error?.message).toContain('does not serve the revision')
  await page.close()
})

test('a page needs a stream, and a token that cannot be guessed', async () => {
  const answer = await postJson(served, 'api/play/nobody-knows-this-page/lists', {})
  expect(answer.status).toBe(409)
  const stream = await watchFrames(served.base, served.page.key, 'play', 'short')
  expect(stream.status).toBe(400)
  await stream.close()
})

test('arguments and results reach the page that made the call, and no other response', async () => {
  const canary = 'canary-81c2'
  const page = await openPage()
  const other = await openPage()
  const traffic = await watchFrames(served.base, served.page.key, 'calls,log')
  const { result } = await page.ended(await page.call('demo__echo', { text: canary }))
  expect(JSON.stringify(result)).toContain(canary)
  const rows = () => traffic.frames.flatMap(frame => (frame.event === 'calls' ? frame.rows : []))
  await expect
    .poll(() => rows().find(({ name }) => name === 'demo__echo'), { timeout: 30_000 })
    .toMatchObject({ isOurs: true, client: 'trunkline-console' })
  expect(JSON.stringify([traffic.frames, other.plays()])).not.toContain(canary)
  for (const path of ['state', 'calls', 'log', 'sessions', 'tools']) {
    expect(JSON.stringify(await readJson(served, `api/${path}`))).not.toContain(canary)
  }
  await Promise.all([page, other, traffic].map(each => each.close()))
})

test('calls at a time are limited', async () => {
  const page = await openPage()
  const most = limits.consoleRuns.default
  const runs = await Promise.all(Array.from({ length: most }, () => page.call('demo__steps')))
  const params = { name: 'demo__echo' }
  const further = await page.post('run', { method: 'tools/call', params })
  expect([further.status, JSON.stringify(further.body)]).toEqual([
    503,
    expect.stringContaining('too_many_runs'),
  ])
  await page.post(`runs/${runs[0]}/cancel`)
  await page.ended(runs[0] ?? '')
  expect((await page.post('run', { method: 'tools/call', params })).status).toBe(200)
  await page.close()
})

test('a read-only console makes no calls', async () => {
  const own = await serveConsole({ actions: 'look' })
  const page = await openPage(own)
  expect((await page.post('lists')).status).toBe(403)
  expect((await page.post('run', { method: 'ping' })).status).toBe(403)
  await page.close()
  await own.close()
})

test('the client of a page is a session of its own, which ends with the console', async () => {
  const own = await serveConsole()
  const page = await openPage(own)
  await page.post('lists')
  const client = await connect(own.router)
  expect(own.router.callers.sessions()).toHaveLength(2)
  await client.close()
  await own.page.close()
  await expect.poll(() => own.router.callers.sessions(), { timeout: 30_000 }).toEqual([])
  await page.close()
  await own.close()
})
