import type { Server } from '../../src/server/server.ts'
import type { Revision } from '../mcp-interop/driver.ts'
import { type Said, talk } from './task-talk.ts'

export const sessionRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
export const allRevisions = [...sessionRevisions, '2026-07-28'] as const
export const stateless = '2026-07-28'

/** One server request, or one input request of a result. */
export interface Asked {
  readonly method: string
  readonly params?: Record<string, unknown>
  /** The key of an input request; undefined for a server request. */
  readonly key?: string
}

export interface AskedOptions {
  readonly capabilities?: object
  readonly answer?: (asked: Asked) => object | undefined
  readonly principal?: string
}

/** All client capabilities that server requests need. */
export const canAll = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
}

/** Opens a client of any revision that answers server requests and input requests. */
export async function asked(server: Server, revision: Revision, options: AskedOptions = {}) {
  const requests: Asked[] = []
  const answer = (request: Asked): object | undefined => {
    requests.push(request)
    return options.answer?.(request)
  }
  const client = talk(server, revision, {
    capabilities: options.capabilities ?? canAll,
    principal: options.principal,
    answer: ({ method = '', params }) => answer({ method, params }),
  })
  if (revision !== stateless) await client.open()
  let rounds = 0
  return {
    ...client,
    questions: requests,
    get rounds() {
      return rounds
    },
    /** Sends a request, answers all input requests, and returns the last response. */
    call: async (method: string, params: Record<string, unknown> = {}): Promise<Said> => {
      let reply = await client.ask(method, params)
      while (reply.result?.resultType === 'input_required') {
        rounds++
        const { inputRequests, requestState } = reply.result
        const inputs = Object.entries((inputRequests ?? {}) as Record<string, Asked>)
        const inputResponses = Object.fromEntries(
          inputs.map(([key, request]) => [key, answer({ ...request, key })]),
        )
        reply = await client.ask(method, { ...params, inputResponses, requestState })
      }
      return reply
    },
  }
}

/** Returns the text of a tool result. */
export function textOf({ result }: Said): unknown {
  const content = result?.content as { readonly text?: unknown }[] | undefined
  return content?.[0]?.text
}
