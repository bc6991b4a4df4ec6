import type { Caller } from '../../mcp/caller.ts'
import { elicitationSchema } from '../../mcp/elicitation/schema.ts'
import { issueText } from '../../mcp/schema/issues.ts'
import type { Infer, Schema } from '../../mcp/schema/standard-schema.ts'
import type {
  ElicitFormParams,
  ElicitParams,
  ElicitUrlParams,
} from '../../mcp/types/elicitation.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import type { ServerRequestTask } from '../tasks/scope.ts'
import { invalidInputResponse } from './input-responses.ts'
import { requireElicitation } from './require-capability.ts'

/** Thrown by `ctx.elicit` when the user declined. */
export class Declined extends Error {
  constructor() {
    super('the question was declined')
    this.name = 'Declined'
  }
}

/** Thrown by `ctx.elicit` when the user closed the form or the page without an answer. */
export class Cancelled extends Error {
  constructor() {
    super('the question was cancelled')
    this.name = 'Cancelled'
  }
}

/** A request for input from the user, by a form or on a web page. */
export type ElicitRequest = ElicitFormRequest | ElicitUrlRequest

/** What every request for input from the user has. */
export interface ElicitRequestMembers {
  /** Shown to the user. */
  readonly message: string
  /** The key of the request on the wire; by default its position among the requests of the handler. */
  readonly key?: string
  /** `'return'` returns the whole answer instead of throwing when the user declines or cancels. */
  readonly onDecline?: 'throw' | 'return'
  /** Asks the client to answer as a task, where it supports that: the answer may then take longer. */
  readonly task?: ServerRequestTask
}

/** A request that the user answers by filling in a form. */
export interface ElicitFormRequest extends ElicitRequestMembers {
  /** The schema of the form: an object with members of primitive types. */
  readonly schema: Schema
}

/** A request that the user answers on a web page. */
export interface ElicitUrlRequest extends ElicitRequestMembers {
  /** The address of the page that the user is asked to visit. */
  readonly url: string
  /**
   * The id for `server.completeElicitation(id)`, which notifies the client that the interaction on the
   * page is complete. Must be hard to guess; by default a random id. Stateless revisions do not use it.
   */
  readonly elicitationId?: string
}

type FormContent<Q> = Q extends { readonly schema: infer S } ? Infer<S> : undefined

/** The result of `ctx.elicit`: the content of the form, or with `onDecline: 'return'` the whole answer. */
export type ElicitAnswer<Q> = Q extends { readonly onDecline: 'return' }
  ?
      | {
          readonly action: 'accept'
          /** The content of the form. */
          readonly content: FormContent<Q>
        }
      | {
          /** The user declined. */
          readonly action: 'decline'
          readonly content?: undefined
        }
      | {
          /** The user dismissed the request without an answer. */
          readonly action: 'cancel'
          readonly content?: undefined
        }
  : FormContent<Q>

/** The type of `ctx.elicit`. */
export type Elicit = <const Q extends ElicitRequest>(request: Q) => Promise<ElicitAnswer<Q>>

type Ask = (params: ElicitParams, key: string | undefined) => Promise<unknown>

/** Sends an elicitation through `ask` and checks the response. Throws when the user declines. */
export async function elicit(caller: Caller, ask: Ask, request: ElicitRequest): Promise<unknown> {
  // Untyped callers pass the message alone.
  const given: unknown = request
  if (!isRecord(given) || !('schema' in given || 'url' in given)) {
    throw new TypeError('ctx.elicit takes { message, schema } or { message, url }')
  }
  const { key, onDecline } = request
  const prepared =
    'url' in request
      ? prepareUrl(caller, request)
      : prepareForm(caller, request.message, request.schema)
  const reply = await prepared.accept(await ask(prepared.params, key), key)
  if (onDecline === 'return') return reply
  if (reply.action === 'decline') throw new Declined()
  if (reply.action === 'cancel') throw new Cancelled()
  return reply.content
}

/** An elicitation encoded for the caller's revision, with the check of its response. */
export interface PreparedElicitation<P extends ElicitParams = ElicitParams> {
  readonly params: P
  /** Checks a response. Throws or rejects with an RpcError for one that does not fit. */
  accept(response: unknown, key: string | undefined): Promise<ElicitReply> | ElicitReply
}

/** A checked response to an elicitation. */
export interface ElicitReply {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: unknown
}

/**
 * Prepares a form. Throws an RpcError where the client does not support forms, and a SchemaError for a
 * schema that no form can represent.
 */
export function prepareForm(
  caller: Caller,
  message: string,
  schema: Schema,
): PreparedElicitation<ElicitFormParams> {
  requireElicitation(caller, 'form')
  const { elicitation, richForms } = caller.revision.features
  const form = elicitationSchema(schema, `the request "${message}"`)
  const { requestedSchema } = richForms ? form : form.basic
  const mode = elicitation === 'form' ? {} : ({ mode: 'form' } as const)
  return {
    params: { ...mode, message, requestedSchema },
    accept: async (response, key) => {
      const { action, content } = replyOf(caller, response, key)
      if (action !== 'accept') return { action }
      const given = isRecord(content) ? content : {}
      const filled = form.applyDefaults(richForms ? given : form.basic.restore(given))
      const checked = await form.check(filled)
      if (checked.ok) return { action, content: checked.value }
      throw invalidInputResponse(caller, 'elicitation', issueText(checked.issues), key)
    },
  }
}

/**
 * Prepares a request to open a web page. Throws an RpcError where the client does not support that, and
 * a TypeError for an invalid URL.
 */
export function prepareUrl(
  caller: Caller,
  request: Pick<ElicitUrlRequest, 'message' | 'url' | 'elicitationId'>,
): PreparedElicitation<ElicitUrlParams> {
  requireElicitation(caller, 'url')
  const { message, url, elicitationId = crypto.randomUUID() } = request
  if (!URL.canParse(url)) throw new TypeError(`the request "${message}": "${url}" is not a URL`)
  const identified = caller.revision.features.elicitationIds ? { elicitationId } : {}
  return {
    params: { mode: 'url', message, url, ...identified },
    accept: (response, key) => ({ action: replyOf(caller, response, key).action }),
  }
}

function replyOf(caller: Caller, response: unknown, key: string | undefined): ElicitReply {
  if (isRecord(response)) {
    const { action, content } = response
    if (action === 'accept' || action === 'decline' || action === 'cancel') {
      return { action, content }
    }
  }
  throw invalidInputResponse(caller, 'elicitation', 'it has no action', key)
}

/** The ids of the URL elicitations of one session that are not complete. */
export class UrlElicitations {
  /** Undefined before the first: most sessions never get a URL elicitation. */
  #ids: Set<string> | undefined

  /** Adds an id; forgets the oldest one beyond the limit `urlElicitations`. */
  add(id: string | undefined): void {
    if (id === undefined) return
    this.#ids ??= new Set()
    this.#ids.delete(id)
    this.#ids.add(id)
    if (this.#ids.size <= limits.urlElicitations.default) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      break
    }
  }

  /** Forgets an id. Returns whether it was known. */
  complete(id: string): boolean {
    return this.#ids?.delete(id) ?? false
  }
}
