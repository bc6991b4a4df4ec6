import { describe, expect, test } from 'vitest'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { Server } from '../../src/server/server.ts'
import { caller, failureOf, routed } from './routed.ts'

/** A server that lists none of its resources. */
function secretive(): Server {
  const server = new Server({ name: 'secretive', version: '1' })
  server.use(
    next => (message, exchange) =>
      message.method === 'resources/list' ? { resources: [] } : next(message, exchange),
  )
  return server
}

/** Two such servers, the first of which is not called again after it failed to answer. */
function silentAndOther() {
  const silent = secretive()
  silent.resource('slow', 'slow://', {}, () => new Promise<never>(() => {}))
  const other = secretive()
  other.resource('here', 'here://', {}, () => 'found')
  return { silent: { server: silent, timeoutMs: 20, breaker: { failures: 1 } }, other }
}

describe('an unlisted resource', () => {
  test('is read although another server does not answer', async () => {
    const router = await routed(silentAndOther())
    const client = await caller(router)
    await failureOf(client.read('slow://'))
    expect(router.server('silent')?.instances).toMatchObject([{ breaker: 'open' }])
    expect((await client.read('here://')).contents).toMatchObject([{ text: 'found' }])
  })

  test('is reported missing only if every server could be reached', async () => {
    const router = await routed(silentAndOther())
    const client = await caller(router)
    expect(await failureOf(client.read('gone://'))).toMatchObject({ kind: 'resource_not_found' })
    await failureOf(client.read('slow://'))
    expect(await failureOf(client.read('gone://'))).toMatchObject({ data: { server: 'silent' } })
  })

  test('is not searched elsewhere when a server refuses the read', async () => {
    const first = secretive()
    first.resource('no', 'no://', {}, () => {
      throw new RpcError(-32099, 'Not for you')
    })
    const other = secretive()
    other.resource('no', 'no://', {}, () => 'somebody else')
    const client = await caller(await routed({ first, other }))
    expect(await failureOf(client.read('no://'))).toMatchObject({ message: 'Not for you' })
  })
})
