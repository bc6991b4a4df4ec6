import type { Caller } from '../../mcp/caller.ts'
import { elicitationSchema } from '../../mcp/elicitation/schema.ts'
import { issueText } from '../../mcp/schema/issues.ts'
import type { Infer, Schema } from '../../mcp/schema/standard-schema.ts'
import type {
  ElicitFormParams,
  ElicitParams,
  ElicitUrlParams,
} from '../../mcp/types/elicitation.ts'
import { isRecord } from '../../util/record.ts'
import type { QuestionTask } from '../tasks/scope.ts'
import { badAnswer } from './bad-answer.ts'
import { requireElicitation } from './require-capability.ts'

/** The person said no. */
export class Declined extends Error {
  constructor() {
    super('the question was declined')
    this.name = 'Declined'
  }
}

/** The person closed the question without an answer. */
export class Cancelled extends Error {
  constructor() {
    super('the question was cancelled')
    this.name = 'Cancelled'
  }
}

/** A question to be answered by a form, or on a web page. */
export type ElicitQuestion = FormQuestion | UrlQuestion

interface Asked {
  readonly message: string
  /** Names the question on the wire; by default its place in the handler. */
  readonly key?: string
  /** `'return'` gives the whole answer instead of throwing when it is no. */
  readonly onDecline?: 'throw' | 'return'
  /** Asks the client to answer as a task, where it can: the answer may then take its time. */
  readonly task?: QuestionTask
}

export interface FormQuestion extends Asked {
  readonly schema: Schema
}

export interface UrlQuestion extends Asked {
  readonly url: string
  /**
   * Names what is to be settled on that page, for `server.elicited(id)` to tell the client when it is.
   * Must be hard to guess; by default a random one. Stateless revisions have no use for it.
   */
  readonly elicitationId?: string
}

type Content<Q> = Q extends { readonly schema: infer S } ? Infer<S> : undefined

/** What asking gives: the content of the form, or with `onDecline: 'return'` the whole answer. */
export type ElicitAnswer<Q> = Q extends { readonly onDecline: 'return' }
  ?
      | { readonly action: 'accept'; readonly content: Content<Q> }
      | { readonly action: 'decline' | 'cancel'; readonly content?: undefined }
  : Content<Q>

export type Elicit = <const Q extends ElicitQuestion>(question: Q) => Promise<ElicitAnswer<Q>>

type Ask = (params: ElicitParams, key: string | undefined) => Promise<unknown>

/** Asks, checks the answer, and says no by throwing. */
export async function elicit(caller: Caller, ask: Ask, question: ElicitQuestion): Promise<unknown> {
  const { key, onDecline } = question
  const posed =
    'url' in question
      ? poseUrl(caller, question)
      : poseForm(caller, question.message, question.schema)
  const reply = await posed.accept(await ask(posed.params, key), key)
  if (onDecline === 'return') return reply
  if (reply.action === 'decline') throw new Declined()
  if (reply.action === 'cancel') throw new Cancelled()
  return reply.content
}

/** A question in the words of the caller's revision, and what makes its answer an answer to it. */
export interface Posed<P extends ElicitParams = ElicitParams> {
  readonly params: P
  /** Checks an answer; one that is not what was asked for is refused. */
  accept(answer: unknown, key: string | undefined): Promise<ElicitReply> | ElicitReply
}

export interface ElicitReply {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: unknown
}

/** Poses a form. Throws where the client takes none, and a SchemaError for what no form can ask. */
export function poseForm(caller: Caller, message: string, schema: Schema): Posed<ElicitFormParams> {
  requireElicitation(caller, 'form')
  const { elicitation, richForms } = caller.revision.features
  const form = elicitationSchema(schema, `the question "${message}"`)
  const { requestedSchema } = richForms ? form : form.basic
  const mode = elicitation === 'form' ? {} : ({ mode: 'form' } as const)
  return {
    params: { ...mode, message, requestedSchema },
    accept: async (answer, key) => {
      const { action, content } = replyOf(caller, answer, key)
      if (action !== 'accept') return { action }
      const given = isRecord(content) ? content : {}
      const filled = form.applyDefaults(richForms ? given : form.basic.restore(given))
      const checked = await form.check(filled)
      if (checked.ok) return { action, content: checked.value }
      throw badAnswer(caller, 'elicitation', issueText(checked.issues), key)
    },
  }
}

/** Poses a question that a web page answers. Throws where the client opens none, or it is no URL. */
export function poseUrl(
  caller: Caller,
  question: Pick<UrlQuestion, 'message' | 'url' | 'elicitationId'>,
): Posed<ElicitUrlParams> {
  requireElicitation(caller, 'url')
  const { message, url, elicitationId = crypto.randomUUID() } = question
  if (!URL.canParse(url)) throw new TypeError(`the question "${message}": "${url}" is no URL`)
  const identified = caller.revision.era === 'session' ? { elicitationId } : {}
  return {
    params: { mode: 'url', message, url, ...identified },
    accept: (answer, key) => ({ action: replyOf(caller, answer, key).action }),
  }
}

function replyOf(caller: Caller, reply: unknown, key: string | undefined): ElicitReply {
  if (isRecord(reply)) {
    const { action, content } = reply
    if (action === 'accept' || action === 'decline' || action === 'cancel') {
      return { action, content }
    }
  }
  throw badAnswer(caller, 'elicitation', 'it has no action', key)
}
