import type { CallOptions } from '../jsonrpc/handler.ts'
import type { Members } from '../mcp/types/base.ts'
import { checkOptions, type OptionTable } from '../util/options.ts'
import type { RequestOptions } from './requests/request-run.ts'

/** Options of a list. Timeout and signal apply to each page. */
export interface ListOptions extends CallOptions {
  /** Bypasses the cache. */
  readonly fresh?: boolean
  /** The number of pages after which the list fails with `'too-many'`. */
  readonly maxPages?: number
  /** Called with the `_meta` of each page that has one; a router lists unavailable servers there. */
  readonly onMeta?: (meta: Members) => void
  /** Called with each entry that is not an object, which is left out. By default the list fails with `'framing'`. */
  readonly onInvalid?: (entry: unknown) => void
}

/** Options of a tool call. */
export interface CallToolOptions<S> extends RequestOptions {
  /** The schema that the structured content is checked against, and that types it. */
  readonly output?: S
}

/** The prompt or resource template whose argument is completed. */
export type CompletionOf =
  | {
      /** The name of the prompt. */
      readonly prompt: string
    }
  | {
      /** The URI template of the resources. */
      readonly resource: string
    }

const call = { signal: 'object', timeoutMs: 'ms' } as const

/** The options of one request, and of a tool call with its `output`. */
export const requestTable: OptionTable = {
  ...call,
  onProgress: 'function',
  maxTotalMs: 'maxMs',
  fresh: 'boolean',
  output: 'any',
}

/** The options of a tool call as a task. */
export const startTable: OptionTable = { ...call, ttlMs: 'number' }

/** The options of a subscription to changes. */
export const changesTable: OptionTable = { signal: 'object' }

/** Returns a TypeError for unknown or invalid options of a call; undefined if they are valid, or if there are none. */
export function optionProblem(options: object | undefined, table: OptionTable): unknown {
  for (const _ in options) {
    try {
      checkOptions(options, table)
      return undefined
    } catch (error) {
      return error
    }
  }
  return undefined
}
