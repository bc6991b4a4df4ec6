import type { Server } from '../../src/server/server.ts'
import type { Revision } from '../mcp-interop/driver.ts'
import { type Said, talk } from './task-talk.ts'

export const sessionRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
export const allRevisions = [...sessionRevisions, '2026-07-28'] as const
export const stateless = '2026-07-28'

/** One question, however it came. */
export interface Asked {
  readonly method: string
  readonly params?: Record<string, unknown>
  /** Only where it came in a result. */
  readonly key?: string
}

export interface AskedOptions {
  readonly capabilities?: object
  readonly answer?: (asked: Asked) => object | undefined
  readonly principal?: string
}

/** What a client of the revision in question can be asked, all together. */
export const canAll = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
}

/** A client of any revision that answers questions, in calls or in rounds. */
export async function asked(server: Server, revision: Revision, options: AskedOptions = {}) {
  const questions: Asked[] = []
  const answer = (question: Asked): object | undefined => {
    questions.push(question)
    return options.answer?.(question)
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
    questions,
    get rounds() {
      return rounds
    },
    /** Asks, answers whatever is asked in return, and gives the last reply. */
    call: async (method: string, params: Record<string, unknown> = {}): Promise<Said> => {
      let reply = await client.ask(method, params)
      while (reply.result?.resultType === 'input_required') {
        rounds++
        const { inputRequests, requestState } = reply.result
        const requests = Object.entries((inputRequests ?? {}) as Record<string, Asked>)
        const inputResponses = Object.fromEntries(
          requests.map(([key, question]) => [key, answer({ ...question, key })]),
        )
        reply = await client.ask(method, { ...params, inputResponses, requestState })
      }
      return reply
    },
  }
}

/** The text of a tool's result. */
export function textOf({ result }: Said): unknown {
  const content = result?.content as { readonly text?: unknown }[] | undefined
  return content?.[0]?.text
}
