import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/connect.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import type { RevisionName } from '../../src/mcp/revisions/revisions.ts'
import type { Router } from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { deferred } from '../../src/util/promises.ts'
import { Random } from '../fuzz/random.ts'
import { envelope } from '../http/requests.ts'
import { failureOf, routed } from './routed.ts'

const OPERATIONS = Number(process.env.SOAK_OPERATIONS ?? 2000)
const tenants = ['ada', 'bob'] as const
type Tenant = (typeof tenants)[number]

const secret = { type: 'object', properties: { secret: { type: 'string' } } } as const
const form = { type: 'object', properties: { word: { type: 'string' } } } as const

/** A server that repeats its argument in every kind of message: results, logs, progress, server requests. */
function behind(revision: RevisionName): Server {
  const server = new Server(
    { name: 'behind', version: '1' },
    { revisions: [revision], onError: () => {} },
  )
  server.tool('echo', { input: secret }, async ({ secret: word }, ctx) => {
    ctx.log('warning', { word })
    ctx.progress(1, 2, word)
    await Promise.resolve()
    return `${word}`
  })
  server.tool('ask', { input: secret }, async ({ secret: word }, ctx) => {
    const answer = await ctx.elicit({ message: `Is it ${word}?`, schema: form })
    return `${word} ${answer.word}`
  })
  server.tool('slow', { input: secret, task: 'optional' }, ({ secret: word }) => `${word}`)
  return server
}

/** A router as an authenticated tenant reaches it. */
function known(router: Router, id: Tenant): Endpoint {
  const { handle, profile, revisions } = router
  return {
    handle,
    profile,
    revisions,
    attach: channel => router.attach(channel, { principal: { id } }),
  }
}

interface Seat {
  readonly tenant: Tenant
  readonly client: Client
  /** Everything that reached the client. */
  readonly received: string[]
}

async function seat(router: Router, tenant: Tenant, era: 'session' | 'stateless'): Promise<Seat> {
  const received: string[] = []
  const client = await connect(known(router, tenant), {
    era,
    serverRequestsPerMinute: 1_000_000,
    onLog: message => received.push(JSON.stringify(message)),
    elicit: ({ message }) => {
      received.push(message)
      return { action: 'accept', content: { word: `answer-of-${tenant}` } }
    },
  })
  onTestFinished(() => client.close())
  await client.setLogLevel('debug')
  return { tenant, client, received }
}

/** A stateless request of a tenant, as it is on the wire, without a client around it. */
function ask(router: Router, tenant: Tenant, name: string, more: object): Promise<Answered> {
  const elicitation = { elicitation: {} }
  const _meta = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': elicitation }
  const params = { name, ...more, _meta }
  const answer = router.handle(
    { type: 'request', id: 1, method: 'tools/call', params },
    {
      signal: new AbortController().signal,
      envelope: { principal: { id: tenant } },
      notify: () => {},
    },
  )
  return Promise.resolve(answer) as Promise<Answered>
}

type Operation = (seat: Seat, server: string, word: string) => Promise<void>

interface Answered {
  readonly resultType?: string
  readonly requestState?: string
  readonly inputRequests?: Readonly<Record<string, { readonly params: { message: string } }>>
  readonly content?: readonly { readonly text: string }[]
}

describe('SEC-39: two tenants of one router', () => {
  test(`receive nothing of each other in ${OPERATIONS} operations`, {
    timeout: 300_000 + OPERATIONS * 10,
  }, async () => {
    const router = await routed({ old: behind('2025-11-25'), new: behind('2026-07-28') })
    const seats: Seat[] = []
    for (const tenant of tenants) {
      for (const era of ['session', 'stateless'] as const) {
        seats.push(await seat(router, tenant, era), await seat(router, tenant, era))
      }
    }
    const random = new Random(39)
    const leaks: string[] = []
    const taskIds: { readonly tenant: Tenant; readonly id: string }[] = []
    let done = 0
    let thefts = 0
    let answered = 0

    const check = (tenant: Tenant, what: string, words: string): void => {
      const other = tenants.find(one => one !== tenant) as Tenant
      if (words.includes(`secret-of-${other}`) || words.includes(`answer-of-${other}`)) {
        leaks.push(`${tenant} ${what}: ${words}`)
      }
    }

    /** The sealed request state of one tenant is useless to the other. */
    const steal = async (tenant: Tenant, server: string, word: string): Promise<void> => {
      const other = tenants.find(one => one !== tenant) as Tenant
      const given = { arguments: { secret: word } }
      const asked = await ask(router, tenant, `${server}__ask`, given)
      const [key, inputRequest] = Object.entries(asked.inputRequests ?? {})[0] ?? []
      expect(inputRequest?.params.message).toBe(`Is it ${word}?`)
      const content = { word: `answer-of-${tenant}` }
      const answer = {
        ...given,
        requestState: asked.requestState,
        inputResponses: { [key as string]: { action: 'accept', content } },
      }
      thefts++
      const error = await failureOf(ask(router, other, `${server}__ask`, answer))
      expect(error).toBeInstanceOf(RpcError)
      check(other, 'stolen state', JSON.stringify(error))
      const end = await ask(router, tenant, `${server}__ask`, answer)
      expect(end.content?.[0]?.text).toBe(`${word} answer-of-${tenant}`)
    }

    const begin: Operation = async ({ client, tenant }, server, word) => {
      const task = await client.start(`${server}__slow`, { secret: word })
      if (task.id !== undefined) taskIds.push({ tenant, id: task.id })
      const { text } = await task.result()
      check(tenant, 'task', text)
      expect(text).toBe(word)
    }

    const operations: readonly Operation[] = [
      async ({ client, tenant, received }, server, word) => {
        const onProgress = (step: object) => void received.push(JSON.stringify(step))
        const { text } = await client.call(`${server}__echo`, { secret: word }, { onProgress })
        check(tenant, 'echo', text)
        expect(text).toBe(word)
      },
      async ({ client, tenant }, server, word) => {
        try {
          const { text } = await client.call(`${server}__ask`, { secret: word })
          check(tenant, 'ask', text)
          if (text === `${word} answer-of-${tenant}`) answered++
          else expect(text).toContain('whose call')
        } catch (error) {
          // On a shared connection, the router refuses a server request that may belong to another caller.
          expect(error).toMatchObject({
            message: expect.stringContaining('calls of several callers'),
          })
        }
      },
      // A task of another tenant looks like one that does not exist.
      async ({ client, tenant }) => {
        const found = taskIds.find(task => task.tenant !== tenant)
        if (found === undefined) return
        thefts++
        const method = random.pick(['tasks/get', 'tasks/cancel'])
        const error = await failureOf(client.request(method, { taskId: found.id }))
        expect(error).toBeInstanceOf(RpcError)
        check(tenant, 'theft', JSON.stringify(error))
      },
      ({ tenant }, _, word) => steal(tenant, 'new', word),
    ]

    const one = async (): Promise<void> => {
      while (done < OPERATIONS) {
        const number = ++done
        const who = seats[random.int(seats.length)] as Seat
        const server = random.pick(['old', 'new'])
        // Tasks are polled at intervals, so a few of them take as long as many other operations.
        const operation = random.once(50) ? begin : operations[random.int(operations.length)]
        await operation?.(who, server, `secret-of-${who.tenant}-${number}`)
      }
    }
    await Promise.all(Array.from({ length: 16 }, one))
    // Calls that are parked during their server request, one at a time, so a connection has one owner.
    for (let turn = 0; turn < 50; turn++) {
      const tenant = random.pick(tenants)
      await steal(tenant, 'old', `secret-of-${tenant}-held-${turn}`)
    }
    for (const { tenant, received } of seats) {
      expect(received.length).toBeGreaterThan(0)
      for (const words of received) check(tenant, 'received', words)
    }
    expect(leaks).toEqual([])
    expect(thefts).toBeGreaterThan(OPERATIONS / 10)
    expect(answered).toBeGreaterThan(OPERATIONS / 20)
  })

  test('do not use up the limits of each other', async () => {
    const server = new Server({ name: 'slow', version: '1' })
    const held = deferred<void>()
    onTestFinished(() => held.resolve())
    server.tool('wait', {}, async () => {
      await held.promise
      return 'done'
    })
    const limits = { perCaller: { concurrent: 1, queue: 0 } }
    const router = await routed({ slow: { server, limits } })
    const [ada, bob] = [
      await seat(router, 'ada', 'stateless'),
      await seat(router, 'bob', 'stateless'),
    ]
    const first = ada.client.call('slow__wait')
    expect(await failureOf(ada.client.call('slow__wait'))).toBeInstanceOf(RpcError)
    const second = bob.client.call('slow__wait')
    held.resolve()
    expect((await first).text).toBe('done')
    expect((await second).text).toBe('done')
  })
})
