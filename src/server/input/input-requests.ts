import type { Caller } from '../../mcp/caller.ts'
import type { Schema } from '../../mcp/schema/standard-schema.ts'
import type { InputRequest } from '../../mcp/types/input.ts'
import { poseForm, poseUrl } from './elicit.ts'
import { requireRoots } from './require-capability.ts'
import { rootsAnswer } from './roots.ts'
import { sampleAnswer, sampleParams } from './sample.ts'

/** A question that a handler has put together itself, ready to be asked. */
export interface Question {
  /** As the caller's revision says it. */
  readonly request: InputRequest
  /** The answer, checked and in the words of the question; one of another shape is refused. */
  accept(answer: unknown, key: string): unknown
}

/** Makes a question ready for a caller. Throws where the client cannot be asked it. */
export function questionFor(caller: Caller, { method, params }: InputRequest): Question {
  switch (method) {
    case 'elicitation/create': {
      const { params: said, accept } =
        params.mode === 'url'
          ? poseUrl(caller, params)
          : // The check: a form is a JSON Schema, and what no form may ask is refused there.
            poseForm(caller, params.message, params.requestedSchema as unknown as Schema)
      return { request: { method, params: said }, accept }
    }
    case 'sampling/createMessage':
      return {
        request: { method, params: sampleParams(caller, params) },
        accept: (answer, key) => sampleAnswer(caller, answer, key),
      }
    case 'roots/list':
      requireRoots(caller)
      return {
        request: { method, params },
        accept: (answer, key) => ({ roots: rootsAnswer(caller, answer, key) }),
      }
    default:
      throw new TypeError(`a client cannot be asked "${String(method)}"`)
  }
}
