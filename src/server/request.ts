import { invalidParams } from '../jsonrpc/error.ts'
import type { Exchange } from '../jsonrpc/handler.ts'
import type { Id } from '../jsonrpc/message.ts'
import type { Caller } from '../mcp/caller.ts'
import { isRecord } from '../util/record.ts'
import type { Session } from './core/session.ts'
import type { TaskScope } from './tasks/scope.ts'

export type Params = Readonly<Record<string, unknown>>

/** One request of a known caller on its way to the feature that answers it. */
export interface ServerRequest {
  readonly method: string
  readonly params: Params
  readonly id: Id | null
  readonly caller: Caller
  readonly exchange: Exchange
  /** The connection it came by, if it is one that lasts; a request that speaks for itself owns none of it. */
  readonly session: Session | undefined
  /** Whether members of the result may be text that has not been read, because nobody looks at them. */
  readonly takesWritten?: boolean
  /** The task that it is, or may become. */
  readonly task?: TaskScope
}

/** What a feature gives back: a result object, at once or later. */
export type Answer = Params | Promise<Params>

/** A member of the params that must be a string. */
export function stringParam(params: Params, name: string): string {
  const value = params[name]
  if (typeof value !== 'string') {
    throw invalidParams(`${name} must be a string`, {
      data: { details: `${name} must be a string` },
    })
  }
  return value
}

/** A member of the params that must be an object; empty when it is absent. */
export function objectParam(params: Params, name: string): Params {
  const value = params[name]
  if (value === undefined) return {}
  if (!isRecord(value)) {
    throw invalidParams(`${name} must be an object`, {
      data: { details: `${name} must be an object` },
    })
  }
  return value
}

/** Goes on with a value when it is there: at once where it can, so that no promise is made. */
export function whenReady<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
