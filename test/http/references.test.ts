import fs from 'node:fs'
import { Socket } from 'node:net'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Client, openClient } from '../../src/client/client.ts'
import { httpChannel } from '../../src/http/client/channel.ts'
import { compileSchema } from '../../src/mcp/schema/schema.ts'
import type { JsonSchema } from '../../src/mcp/types/base.ts'
import { Server } from '../../src/server/server.ts'
import { growth, proportional, watch } from '../fuzz/cost.ts'
import { bare, fakeFetch, type ReceivedRequest, reply } from '../support/fake-fetch.ts'

/** A file that exists, so that a missing file cannot explain why it is not read. */
const file = fileURLToPath(new URL('../../package.json', import.meta.url))
const web = 'http://127.0.0.1:9/schema.json'

const sum = (schema: object, rest: object = {}): JsonSchema => ({
  type: 'object',
  properties: { sum: schema },
  ...rest,
})

/** Schemas with external references, and the text that names the target. */
const outward: readonly (readonly [string, JsonSchema, string])[] = [
  ['http', sum({ $ref: web }), web],
  ['https', sum({ $ref: 'https://127.0.0.1:9/s.json#/a' }), 'https://127.0.0.1:9/s.json#/a'],
  ['a file', sum({ $ref: pathToFileURL(file).href }), 'package.json'],
  ['a file of another machine', sum({ $ref: 'file://server/share/x' }), 'file://server/share/x'],
  ['data', sum({ $ref: 'data:application/json,{}' }), 'data:application/json,{}'],
  ['a sibling', sum({ $ref: 'other.json' }), 'other.json'],
  ['a path', sum({ $ref: '/etc/passwd' }), '/etc/passwd'],
  ['another machine by the same scheme', sum({ $ref: '//127.0.0.1:9/x' }), '//127.0.0.1:9/x'],
  ['a parent', sum({ $ref: '../../x.json#/a' }), '../../x.json#/a'],
  ['a dynamic reference', sum({ $dynamicRef: `${web}#node` }), `${web}#node`],
  ['a base of its own', sum({ $ref: 's.json' }, { $id: 'http://127.0.0.1:9/base/' }), 's.json'],
  [
    'a base in the middle',
    sum({ $id: 'http://127.0.0.1:9/base/', allOf: [{ $ref: '#/$defs/a' }] }, { $defs: { a: {} } }),
    '#/$defs/a',
  ],
  [
    'a base that another one moves',
    sum({ $id: 'sub/', items: { $ref: '../x.json' } }, { $id: 'http://127.0.0.1:9/' }),
    '../x.json',
  ],
  ['a URL in an unused definition', sum({}, { $defs: { unused: { $ref: web } } }), web],
  ['a URL inside "not"', sum({ not: { if: { $ref: web } } }), web],
  ['an unknown dialect', sum({}, { $schema: web }), web],
  ['the dialect itself', sum({ $ref: 'https://json-schema.org/draft/2020-12/schema' }), 'draft'],
]

/** Schemas with infinite recursion. */
const endless: readonly (readonly [string, JsonSchema])[] = [
  ['itself', { $ref: '#' }],
  [
    'itself indirectly',
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#' } } },
  ],
  ['itself dynamically', { $dynamicAnchor: 'n', $dynamicRef: '#n' }],
]

const anyOf = (count: number): JsonSchema =>
  sum({ anyOf: Array.from({ length: count }, (_, i) => ({ const: i })) })

const watched = [
  vi.spyOn(globalThis, 'fetch'),
  vi.spyOn(Socket.prototype, 'connect'),
  vi.spyOn(fs, 'open'),
  vi.spyOn(fs, 'openSync'),
  vi.spyOn(fs, 'readFile'),
  vi.spyOn(fs, 'readFileSync'),
  vi.spyOn(fs.promises, 'open'),
  vi.spyOn(fs.promises, 'readFile'),
]
afterAll(() => {
  for (const spy of watched) spy.mockRestore()
})

const eras = ['2025-11-25', '2026-07-28'] as const
const onError = vi.fn()
let client: Client | undefined

/** Opens a client of a server over HTTP that lists one tool with this schema. */
async function opened(era: string, outputSchema: object, inputSchema: object = {}) {
  const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
  const answers = new Map<string, object>([
    ['server/discover', { ...complete, supportedVersions: [era], capabilities: { tools: {} } }],
    [
      'initialize',
      {
        protocolVersion: era,
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      },
    ],
    ['tools/list', { ...complete, tools: [{ name: 'add', inputSchema, outputSchema }] }],
    ['tools/call', { ...complete, content: [], structuredContent: { sum: 3 } }],
  ])
  const { fetch } = fakeFetch((received: ReceivedRequest) => {
    if (received.body === undefined) return bare(405)
    const found = answers.get(received.body.method)
    return received.body.id === undefined ? bare(202) : reply(received, found)
  })
  const url = new URL('http://localhost:1/mcp')
  const dial = async () => httpChannel(url, { fetch, onError })
  const from = era === '2026-07-28' ? 'stateless' : 'session'
  client = await openClient(dial, { onError, reconnect: false, era: from })
  const names: string[] = []
  for await (const tool of client.tools()) names.push(tool.name)
  return { client, names }
}

function said(): string {
  return onError.mock.calls.map(([error]) => String(error)).join('; ')
}

beforeEach(async () => {
  // The first schema loads the validator, which is not a read of a referenced file.
  await compileSchema(sum({ type: 'number' }), { what: 'x', side: 'output' }).check({ sum: 1 })
  onError.mockClear()
  for (const spy of watched) spy.mockClear()
})
afterEach(async () => {
  await client?.close()
  client = undefined
})

describe('SEC-13: a schema of a server that refers to', () => {
  test.each(outward)(
    '%s fetches nothing, and is reported with the target',
    async (_, schema, to) => {
      for (const era of eras) {
        onError.mockClear()
        const { client: caller } = await opened(era, schema)
        // An error in the schema is no reason to withhold the result.
        expect((await caller.call('add')).structured).toEqual({ sum: 3 })
        expect(onError).toHaveBeenCalledTimes(1)
        expect(said()).toContain('add')
        expect(said()).toContain(to)
        await caller.call('add')
        expect(onError).toHaveBeenCalledTimes(1)
        await caller.close()
      }
      for (const spy of watched) expect(spy).not.toHaveBeenCalled()
    },
  )

  test.each(outward)('%s in the input schema fetches nothing either', async (_, schema) => {
    for (const era of eras) {
      const { client: caller, names } = await opened(era, sum({}), schema)
      expect(names).toEqual(['add'])
      expect((await caller.call('add', { sum: 3 })).structured).toEqual({ sum: 3 })
      await caller.close()
    }
    for (const spy of watched) expect(spy).not.toHaveBeenCalled()
  })

  test.each(outward)('%s is rejected when a server registers it', (_, schema, to) => {
    const server = new Server({ name: 's', version: '1' })
    expect(() => server.tool('add', { input: schema }, () => '')).toThrow(to)
    expect(() => server.tool('add', { output: schema }, () => ({}))).toThrow(to)
    for (const spy of watched) expect(spy).not.toHaveBeenCalled()
  })

  test.each(endless)('%s terminates', async (_, schema) => {
    for (const era of eras) {
      const { client: caller } = await opened(era, schema)
      const outcome = await caller.call('add').then(
        () => said(),
        (error: Error) => error.message,
      )
      expect(outcome).toMatch(/cannot be checked|steps|deep|itself/)
      await caller.close()
    }
  })

  test('itself, one level deeper each time, is used', async () => {
    const list = sum({ type: 'integer' }, { additionalProperties: { $ref: '#' } })
    const { client: caller } = await opened('2025-11-25', list)
    expect((await caller.call('add')).structured).toEqual({ sum: 3 })
    expect(onError).not.toHaveBeenCalled()
  })
})

describe('SEC-13: a schema with very many alternatives', () => {
  test('is rejected beyond the limit, with a message, and used below it', async () => {
    for (const era of eras) {
      onError.mockClear()
      const { client: caller } = await opened(era, anyOf(10_000))
      await caller.call('add')
      expect(said()).toContain('the schema is too large')
      await caller.close()
    }
    onError.mockClear()
    const { client: caller } = await opened('2025-11-25', anyOf(400))
    expect((await caller.call('add')).structured).toEqual({ sum: 3 })
    expect(onError).not.toHaveBeenCalled()
  })

  test('takes time proportional to its size, whether rejected or used', async () => {
    const options = { what: 'x', side: 'output' } as const
    const refused = (size: number): void => {
      expect(() => compileSchema(anyOf(size), options)).toThrow('the schema is too large')
    }
    expect(growth(2000, refused)).toBeLessThan(proportional)
    const used = async (size: number): Promise<number> => {
      const stop = watch()
      const { ok } = await compileSchema(anyOf(size), options).check({ sum: 'none of them' })
      const tookMs = stop()
      expect(ok).toBe(false)
      return tookMs
    }
    let small = Number.POSITIVE_INFINITY
    let large = Number.POSITIVE_INFINITY
    for (let round = 0; round < 5; round++) {
      small = Math.min(small, await used(50))
      large = Math.min(large, await used(50 * 32))
    }
    expect(large / small).toBeLessThan(proportional)
  })
})
