import { join } from 'node:path'
import type { Client } from '../../../src/client/client.ts'
import { RpcError } from '../../../src/jsonrpc/error.ts'

/** One caller of the mixed load. */
export interface MixedCaller {
  readonly client: Client
  readonly era: 'session' | 'stateless'
  /** A folder that the file server may read, with the file `note.txt`. */
  readonly folder: string
  /** Cuts the connections of this caller, if it has a proxy in front. */
  readonly cut?: () => void
  /** Waits for the next change of the watched resource. */
  nextChange(): Promise<void>
}

/** An operation: does something, and says what is wrong with the answer, or undefined if it is right. */
type Operation = (caller: MixedCaller, nonce: string) => Promise<string | undefined>

const differs = (found: unknown, expected: unknown): string | undefined =>
  found === expected ? undefined : `got ${JSON.stringify(found)} for ${JSON.stringify(expected)}`

const says =
  (tool: string, part: string, args: object = {}): Operation =>
  async ({ client }) => {
    const { text = '' } = await client.call(tool, { ...args })
    return text.includes(part) ? undefined : `${tool}: ${text.slice(0, 100)}`
  }

/** The operations of the mixed load, by name. Each one makes the requests that `requestsOf` says. */
export const operations: Readonly<Record<string, Operation>> = {
  echo: async ({ client }, nonce) =>
    differs((await client.call('own__echo', { word: nonce })).text, nonce),
  everything: says('every__get-sum', '5', { a: 2, b: 3 }),
  memory: says('memory__read_graph', 'entities'),
  files: async (caller, nonce) =>
    says('fs__read_text_file', 'a file', { path: join(caller.folder, 'note.txt') })(caller, nonce),
  progress: async ({ client }, nonce) => {
    let steps = 0
    const onProgress = (): void => void steps++
    const { text } = await client.call('own__steps', { word: nonce }, { onProgress })
    return differs(text, nonce) ?? differs(steps, 3)
  },
  cancellation: async ({ client }) => {
    const stop = new AbortController()
    const reason = new Error('given up')
    // Not before the server has begun, or the router might never see the call.
    const onProgress = (): void => stop.abort(reason)
    return client.call('own__wait', {}, { signal: stop.signal, onProgress }).then(
      () => 'answered',
      error => (error === reason ? undefined : `${error}`),
    )
  },
  elicitation: async ({ client }) => differs((await client.call('own__ask')).text, 'in Bern'),
  task: async ({ client }, nonce) => {
    const task = await client.start('own__job', { word: nonce })
    return differs((await task.result()).text, nonce)
  },
  toolError: async ({ client }) => differs((await client.call('own__fail')).isError, true),
  unknownTool: async ({ client }) => {
    const error = await client.call('own__missing').catch(thrown => thrown)
    return error instanceof RpcError ? differs(error.kind, 'tool_not_found') : `${error}`
  },
  list: async ({ client }) => {
    const names = new Set<string>()
    for await (const { name } of client.tools({ fresh: true })) names.add(name)
    return names.has('own__echo') && names.has('every__echo') ? undefined : `${[...names]}`
  },
  read: async ({ client }) => {
    const { contents } = await client.read('own://note', { fresh: true })
    const [first] = contents
    return differs(first !== undefined && 'text' in first ? first.text : undefined, 'a note')
  },
  change: async ({ client, nextChange }) => {
    const change = nextChange()
    await client.call('own__touch')
    await change
    return undefined
  },
  resumption: async ({ client, era, cut }, nonce) => {
    // Only a session can resume a stream, and only callers with a proxy can be cut off.
    const isCut = cut !== undefined && era === 'session'
    let isFirst = true
    const onProgress = (): void => {
      if (isCut && isFirst) cut()
      isFirst = false
    }
    return differs((await client.call('own__steps', { word: nonce }, { onProgress })).text, nonce)
  },
}

/** A request that the router counts. */
export interface CountedRequest {
  readonly method: string
  readonly server: string
  readonly outcome: 'ok' | 'tool-error' | 'input-required' | 'error' | 'cancelled'
  readonly tool?: string
}

const callOf = (
  server: string,
  tool: string,
  outcome: CountedRequest['outcome'] = 'ok',
): CountedRequest => ({ method: 'tools/call', server, outcome, tool })

/** The requests that each operation makes. */
const requests: Readonly<Record<string, readonly CountedRequest[]>> = {
  echo: [callOf('own', 'own__echo')],
  everything: [callOf('every', 'every__get-sum')],
  memory: [callOf('memory', 'memory__read_graph')],
  files: [callOf('fs', 'fs__read_text_file')],
  progress: [callOf('own', 'own__steps')],
  cancellation: [callOf('own', 'own__wait', 'cancelled')],
  elicitation: [callOf('own', 'own__ask')],
  task: [callOf('own', 'own__job')],
  toolError: [callOf('own', 'own__fail', 'tool-error')],
  unknownTool: [{ method: 'tools/call', server: '', outcome: 'error' }],
  list: [{ method: 'tools/list', server: '', outcome: 'ok' }],
  read: [{ method: 'resources/read', server: 'own', outcome: 'ok' }],
  change: [callOf('own', 'own__touch')],
  resumption: [callOf('own', 'own__steps')],
}

/** Returns the requests that an operation makes in an era. A stateless caller repeats a call with its input. */
export function requestsOf(operation: string, era: MixedCaller['era']): readonly CountedRequest[] {
  const made = requests[operation] ?? []
  const isAsked = operation === 'elicitation' && era === 'stateless'
  return isAsked ? [callOf('own', 'own__ask', 'input-required'), ...made] : made
}
