import type { Server } from '../../src/server/server.ts'
import type { Revision } from '../mcp-interop/driver.ts'
import { rawClient, type WireMessage } from './raw-client.ts'

export const sessionRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
export const allRevisions = [...sessionRevisions, '2026-07-28'] as const
export const stateless = '2026-07-28'

/** One server request, or one input request of a result. */
export interface ReceivedRequest {
  readonly method: string
  readonly params?: Record<string, unknown>
  /** The key of an input request; undefined for a server request. */
  readonly key?: string
}

export interface AnsweringOptions {
  readonly capabilities?: object
  readonly answer?: (request: ReceivedRequest) => object | undefined
  readonly principal?: string
}

/** All client capabilities that server requests need. */
export const allCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
}

/** Opens a client of any revision that answers server requests and input requests. */
export async function answeringClient(
  server: Server,
  revision: Revision,
  options: AnsweringOptions = {},
) {
  const requests: ReceivedRequest[] = []
  const answer = (request: ReceivedRequest): object | undefined => {
    requests.push(request)
    return options.answer?.(request)
  }
  const client = rawClient(server, revision, {
    capabilities: options.capabilities ?? allCapabilities,
    principal: options.principal,
    answer: ({ method = '', params }) => answer({ method, params }),
  })
  if (revision !== stateless) await client.open()
  let rounds = 0
  return {
    ...client,
    serverRequests: requests,
    get rounds() {
      return rounds
    },
    /** Sends a request, answers all input requests, and returns the last response. */
    call: async (method: string, params: Record<string, unknown> = {}): Promise<WireMessage> => {
      let reply = await client.request(method, params)
      while (reply.result?.resultType === 'input_required') {
        rounds++
        const { inputRequests, requestState } = reply.result
        const inputs = Object.entries((inputRequests ?? {}) as Record<string, ReceivedRequest>)
        const inputResponses = Object.fromEntries(
          inputs.map(([key, request]) => [key, answer({ ...request, key })]),
        )
        reply = await client.request(method, { ...params, inputResponses, requestState })
      }
      return reply
    },
  }
}

/** Returns the text of a tool result. */
export function textOf({ result }: WireMessage): unknown {
  const content = result?.content as { readonly text?: unknown }[] | undefined
  return content?.[0]?.text
}
