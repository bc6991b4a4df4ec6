import { describe, expect, test } from 'vitest'
import { type Client, openClient } from '../../src/client/client.ts'
import type { ClientOptions } from '../../src/client/options.ts'
import { ChannelError } from '../../src/jsonrpc/channel.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { isRecord } from '../../src/util/objects.ts'
import { allRevisions, type ScriptedServer, serverOf, turns } from '../support/scripted-server.ts'
import { examplesOf, mutants } from './mutants.ts'
import { stateless } from './requests.ts'

/** The client calls that send a method; other methods are requested by name. */
const asking: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  'tools/list': client => listed(client.tools()),
  'resources/list': client => listed(client.resources()),
  'resources/templates/list': client => listed(client.resourceTemplates()),
  'prompts/list': client => listed(client.prompts()),
  'tools/call': client => client.call('thing', {}),
  'resources/read': client => client.read('test://thing'),
  'prompts/get': client => client.prompt('thing', {}),
  'completion/complete': client => client.complete({ prompt: 'thing' }, 'thing', 'x'),
}

async function listed(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

/** Methods that need a separate connection. */
const openings = new Set(['initialize', 'server/discover'])
/** Methods in the other direction, or with a conversation instead of a single response. */
const others = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'subscriptions/listen',
  'tasks/result',
])

const options: ClientOptions = {
  reconnect: false,
  // Content that fits one form does not fit its mutants, which would be an error of the client.
  elicit: () => ({ action: 'decline' }),
  sample: () => ({ role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }),
  roots: [{ uri: 'file:///work' }],
}

/** Returns whether an error is one of those documented for callers. */
function isExpected(error: unknown): boolean {
  return error instanceof ChannelError || error instanceof RpcError
}

/** Returns whether an error is a bug in the client; other errors report what the server sent. */
function isFault(error: unknown): boolean {
  return (
    error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  )
}

/** Answers `method` with the given value, in any revision. */
function answering(server: ScriptedServer, method: string, result: unknown): void {
  server.on(method, () => result)
}

describe.each(allRevisions)('SEC-19: mutants of server messages in %s', revision => {
  const { results, requests, notifications } = examplesOf(revision)

  async function opened(): Promise<{ client: Client; server: ScriptedServer; faults: unknown[] }> {
    const faults: unknown[] = []
    const onError = (error: unknown): void => {
      if (isFault(error)) faults.push(error)
    }
    const server = serverOf(revision)
    const client = await openClient(server.dial, { ...options, onError })
    return { client, server, faults }
  }

  test('as results are used or rejected with a message, and the client stays usable', async () => {
    const { client, server, faults } = await opened()
    const problems: string[] = []
    let count = 0
    for (const [method, examples] of results) {
      if (openings.has(method) || others.has(method)) continue
      const ask = asking[method] ?? (() => client.request(method, { taskId: 'x', uri: 'x:y' }))
      for (const example of examples) {
        const whole = revision === stateless ? { resultType: 'complete', ...example } : example
        for (const result of [whole, null, [], 'x', 5, ...mutants(whole)]) {
          answering(server, method, result)
          count++
          try {
            await ask(client)
          } catch (error) {
            if (!isExpected(error)) problems.push(`${method}: ${String(error)}`)
          }
        }
      }
    }
    expect(problems.slice(0, 5)).toEqual([])
    expect(faults).toEqual([])
    expect(count).toBeGreaterThan(1000)
    answering(server, 'tools/call', { resultType: 'complete', content: [] })
    expect((await client.call('other')).content).toEqual([])
    await client.close()
  })

  test('as the response to the handshake open a client or fail with a message', async () => {
    const method = revision === stateless ? 'server/discover' : 'initialize'
    const problems: string[] = []
    const right = await opened()
    const [example = {}] = results.get(method) ?? []
    const supported = { supportedVersions: [revision], protocolVersion: revision }
    const whole = { ...example, ...supported }
    await right.client.close()
    for (const result of [null, [], 5, ...mutants(whole)]) {
      const server = serverOf(revision)
      answering(server, method, result)
      const era = revision === stateless ? 'stateless' : 'session'
      const onError = (error: unknown): void => {
        if (isFault(error)) problems.push(String(error))
      }
      try {
        const client = await openClient(server.dial, { ...options, era, onError })
        await client.close()
      } catch (error) {
        if (!isExpected(error)) problems.push(`${JSON.stringify(result)}: ${String(error)}`)
      }
    }
    expect(problems.slice(0, 5)).toEqual([])
  })

  test('outside of a request are ignored, or answered with a message', async () => {
    const { client, server, faults } = await opened()
    const problems: string[] = []
    for (const [method, example] of notifications) {
      for (const { params } of mutantsOf(example)) server.notify(method, params)
      await turns(1)
    }
    for (const [method, example] of requests) {
      const asked = mutantsOf(example).map(async ({ params }) => {
        try {
          await server.peer.call(method, params)
        } catch (error) {
          const isInternal = error instanceof RpcError && error.code === -32603
          if (!isExpected(error) || isInternal) problems.push(`${method}: ${String(error)}`)
        }
      })
      await Promise.all(asked)
    }
    expect(problems.slice(0, 5)).toEqual([])
    expect(faults).toEqual([])
    answering(server, 'tools/call', { resultType: 'complete', content: [] })
    expect((await client.call('thing')).content).toEqual([])
    await client.close()
  })
})

/** Returns the mutants that are still valid messages: their params are an object, an array, or absent. */
function mutantsOf(example: object): { readonly params?: object }[] {
  const found: { readonly params?: object }[] = []
  for (const mutant of mutants({ params: Reflect.get(example, 'params') ?? {} })) {
    const { params } = mutant as { params?: unknown }
    if (params === undefined) found.push({})
    else if (isRecord(params) || Array.isArray(params)) found.push({ params })
  }
  return found
}
