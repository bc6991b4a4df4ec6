import { expect, expectTypeOf, test, vi } from 'vitest'
import * as z from 'zod'
import { allRevisions } from '../../test/support/answering-client.ts'
import { connect } from '../connect.ts'
import { errors } from '../mcp/errors/constructors.ts'
import type { RequestDetails } from './request-context.ts'
import { Server } from './server.ts'

const info = { name: 'a', version: '1' }

test.each(allRevisions)(
  'handlers get what context returns, once per request, in %s',
  async revision => {
    const context = vi.fn(async ({ headers, principal, method }: RequestDetails) => ({
      tenant: headers['x-tenant'] ?? 'none',
      user: principal?.id,
      method,
    }))
    await using server = new Server(info, { context })
    server.tool('who', {}, (_, ctx) => {
      expectTypeOf(ctx.env.tenant).toEqualTypeOf<string>()
      return `${ctx.env.tenant} ${ctx.env.user} ${ctx.env.method} ${ctx.headers['x-tenant']}`
    })
    server.prompt(
      'who',
      { args: z.object({ a: z.string() }), complete: { a: (_, { env }) => [env.tenant] } },
      (_, ctx) => ctx.env.tenant,
    )
    server.resource('who', 'who://me', {}, ctx => `${ctx.env.tenant} ${ctx.uri}`)
    server.method('x/who', (_, ctx) => ({ tenant: ctx.env.tenant }))
    const headers = { 'X-Tenant': 'acme' }
    await using client = await connect(server, {
      principal: { id: 'ada' },
      headers,
      revisions: [revision],
    })
    expect((await client.call('who')).text).toBe('acme ada tools/call acme')
    expect(context).toHaveBeenCalledTimes(1)
    expect((await client.prompt('who', { a: '1' })).messages).toMatchObject([
      { content: { text: 'acme' } },
    ])
    expect((await client.read('who://me')).text).toBe('acme who://me')
    expect((await client.complete({ prompt: 'who' }, 'a', '')).values).toEqual(['acme'])
    expect(await client.request('x/who')).toMatchObject({ tenant: 'acme' })
    expect(context).toHaveBeenCalledTimes(5)
    await using other = await connect(server)
    expect((await other.call('who')).text).toBe('none undefined tools/call undefined')
  },
)

test('what context throws answers the request', async () => {
  const reported: unknown[] = []
  const context = ({ principal }: { principal?: { id: string } | undefined }) => {
    if (principal === undefined) throw errors.authenticationFailed({ reason: 'none' })
    if (principal.id === 'broken') throw new Error('no database')
    return { id: principal.id }
  }
  await using server = new Server(info, { context, onError: error => void reported.push(error) })
  const code = vi.fn(() => 'ok')
  server.tool('t', {}, code)
  await using nobody = await connect(server)
  await expect(nobody.call('t')).rejects.toMatchObject({ kind: 'authentication_failed' })
  await using broken = await connect(server, { principal: { id: 'broken' } })
  await expect(broken.call('t')).rejects.toThrow('Internal error')
  expect(reported).toMatchObject([{ message: 'no database' }])
  expect(code).not.toHaveBeenCalled()
})

test('requests that no handler answers need no context', async () => {
  const context = vi.fn(() => ({}))
  await using server = new Server(info, { context })
  server.tool('t', {}, () => 'ok')
  await using client = await connect(server, { revisions: ['2025-11-25'] })
  await client.ping()
  expect(context).not.toHaveBeenCalled()
})

test('only servers of this process take a principal from connect', async () => {
  const remote = connect('http://127.0.0.1:9/mcp', { principal: { id: 'ada' } })
  await expect(remote).rejects.toThrow('option "principal" is for servers of this process')
})
