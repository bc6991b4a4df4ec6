import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { listen } from '../../src/listen.ts'
import { Router, type RouterOptions, type ViewOptions } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { failureOf, routed } from './routed.ts'

function git(): Server {
  const server = new Server({ name: 'git', version: '1' })
  for (const name of ['log', 'commit', 'delete_branch']) server.tool(name, {}, () => `git ${name}`)
  server.prompt('review', {}, () => 'Review this')
  server.resource('head', 'git://head', {}, () => 'abc')
  return server
}

function mail(): Server {
  const server = new Server({ name: 'mail', version: '1' })
  for (const name of ['send', 'read']) server.tool(name, {}, () => `mail ${name}`)
  server.prompt('polite', {}, () => 'Be polite')
  server.resource('inbox', 'mail://inbox', {}, () => 'letters')
  return server
}

const dev: ViewOptions = { servers: ['git'], tools: { deny: ['*__delete_*'] } }

function made(options: RouterOptions): Promise<Router> {
  return routed({ git: git(), mail: mail() }, options)
}

/** A client of a view, for as long as the test lasts. */
async function viewer(router: Router, view: string, era: 'session' | 'stateless') {
  const client = await connect(router.view(view), { era })
  onTestFinished(() => client.close())
  return client
}

async function toolsOf(client: Awaited<ReturnType<typeof viewer>>): Promise<string[]> {
  const { tools } = await client.request('tools/list', {})
  return tools.map(({ name }) => name)
}

describe.each(['session', 'stateless'] as const)('a %s caller of a view', era => {
  test('sees and calls only what the view has', async () => {
    const router = await made({ views: { dev } })
    const client = await viewer(router, 'dev', era)
    expect(await toolsOf(client)).toEqual(['git__log', 'git__commit'])
    expect((await client.call('git__log')).text).toBe('git log')
    for (const name of ['git__delete_branch', 'mail__send', 'none']) {
      expect(await failureOf(client.call(name))).toMatchObject({ kind: 'tool_not_found' })
    }
    const { prompts } = await client.request('prompts/list', {})
    expect(prompts.map(({ name }) => name)).toEqual(['git__review'])
    await expect(client.request('prompts/get', { name: 'mail__polite' })).rejects.toThrow()
    const { resources } = await client.request('resources/list', {})
    expect(resources.map(({ uri }) => uri)).toEqual(['git://head'])
    expect((await client.read('git://head')).text).toBe('abc')
    expect(await failureOf(client.read('mail://inbox'))).toMatchObject({
      kind: 'resource_not_found',
    })
  })

  test('is notified of changes of the view', async () => {
    const server = git()
    const router = await routed({ git: server, mail: mail() }, { views: { dev } })
    const client = await viewer(router, 'dev', era)
    const changes = client.changes({ tools: true, resources: ['git://head'] })
    await changes.ready
    server.tool('push', {}, () => 'git push')
    for await (const change of changes) if (change.type === 'tools') break
    expect(await toolsOf(client)).toContain('git__push')
  })

  test('has its own tool search', async () => {
    const router = await made({ views: { dev: { ...dev, toolSearch: {} } } })
    const client = await viewer(router, 'dev', era)
    expect(await toolsOf(client)).toEqual(['search_tools', 'call_tool'])
    expect((await client.call('search_tools', { query: 'send mail' })).text).toContain('0 of 2')
    expect((await client.call('call_tool', { name: 'git__log' })).text).toBe('git log')
    expect(await failureOf(client.call('call_tool', { name: 'mail__send' }))).toMatchObject({
      kind: 'tool_not_found',
    })
  })
})

test('a caller of a view is not notified of resources outside of it', async () => {
  const server = mail()
  const router = await routed({ git: git(), mail: server }, { views: { dev } })
  const client = await viewer(router, 'dev', 'session')
  expect(await failureOf(client.request('resources/subscribe', { uri: 'mail://inbox' }))).toEqual(
    expect.objectContaining({ kind: 'resource_not_found' }),
  )
  const stateless = await viewer(router, 'dev', 'stateless')
  const changes = stateless.changes({ tools: true, resources: ['mail://inbox'] })
  await changes.ready
  server.updated('mail://inbox')
  server.tool('later', {}, () => '')
  const { value } = await changes[Symbol.asyncIterator]().next()
  expect(value).toMatchObject({ type: 'tools' })
})

test('callers that a rule names have the view at the endpoint of the router', async () => {
  const views = {
    dev: { ...dev, callers: [{ client: 'editor*' }] },
    post: { servers: ['mail'], callers: [{ client: 'mailer' }, { principal: 'ada' }] },
  }
  const router = await made({ views })
  const namesFor = async (name: string, principal?: string) => {
    const endpoint =
      principal === undefined
        ? router
        : {
            ...router.view('dev'),
            attach: (channel: Parameters<Router['attach']>[0]) =>
              router.attach(channel, { principal: { id: principal } }),
          }
    const client = await connect(endpoint, { name, version: '1', era: 'session' })
    onTestFinished(() => client.close())
    return toolsOf(client)
  }
  expect(await namesFor('editor-2')).toEqual(['git__log', 'git__commit'])
  expect(await namesFor('mailer')).toEqual(['mail__send', 'mail__read'])
  expect(await namesFor('other', 'ada')).toEqual(['mail__send', 'mail__read'])
  expect(await namesFor('other', 'bob')).toHaveLength(5)
})

test('the tool search of the router applies to its views unless they say otherwise', async () => {
  const router = await made({ toolSearch: {}, views: { dev, all: { toolSearch: false } } })
  expect(await toolsOf(await viewer(router, 'dev', 'session'))).toEqual([
    'search_tools',
    'call_tool',
  ])
  expect(await toolsOf(await viewer(router, 'all', 'session'))).toHaveLength(5)
})

test('a view is served at an address of its own, beside the router', async () => {
  const router = await made({ views: { dev: { ...dev, instructions: 'Be careful' } } })
  await using own = await listen(router.view('dev'), 'http://127.0.0.1:0/mcp')
  await using all = await listen(router, 'http://127.0.0.1:0/mcp')
  await using client = await connect(own.address)
  await using other = await connect(all.address)
  expect(await toolsOf(client)).toHaveLength(2)
  expect(client.server.instructions).toBe('Be careful')
  expect(await toolsOf(other)).toHaveLength(5)
})

test('a view does not wait for servers outside of it', async () => {
  const router = new Router({
    servers: {
      git: git(),
      slow: { command: process.execPath, args: ['-e', 'process.stdin.resume()'] },
    },
    views: { dev },
    onError: () => {},
  })
  onTestFinished(() => router.close({ drainMs: 0 }))
  expect(await toolsOf(await viewer(router, 'dev', 'session'))).toEqual(['git__log', 'git__commit'])
})

test('middleware of the router applies to its views', async () => {
  const router = await made({ views: { dev } })
  const seen: string[] = []
  router.use(next => (message, exchange) => {
    seen.push(message.method)
    return next(message, exchange)
  })
  await toolsOf(await viewer(router, 'dev', 'session'))
  expect(seen).toContain('tools/list')
})

test('mistakes are refused', async () => {
  const router = await made({ views: { dev } })
  expect(() => router.view('deb')).toThrow('there is no view "deb"; did you mean "dev"?')
  const misspelled = { dev: { server: ['git'] } } as unknown as RouterOptions['views']
  expect(() => new Router({ views: misspelled })).toThrow(/views.dev.server.*servers/)
  const callers = [{ clint: 'x' }] as unknown as ViewOptions['callers']
  expect(() => new Router({ views: { dev: { callers } } })).toThrow(/"callers": .*client/)
})
