import type { Caller } from '../mcp/caller.ts'
import { elicitationSchema } from '../mcp/elicitation-schema.ts'
import { errors } from '../mcp/errors.ts'
import { issueText } from '../mcp/schema-issues.ts'
import type { Infer, Schema } from '../mcp/standard-schema.ts'
import type { ElicitParams } from '../mcp/types/elicitation.ts'
import { missingCapability } from './capability.ts'
import { isRecord } from './request.ts'

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
}

export interface FormQuestion extends Asked {
  readonly schema: Schema
}

export interface UrlQuestion extends Asked {
  readonly url: string
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
  const reply =
    'url' in question
      ? await askByUrl(caller, ask, question)
      : await askByForm(caller, ask, question)
  if (question.onDecline === 'return') return reply
  if (reply.action === 'decline') throw new Declined()
  if (reply.action === 'cancel') throw new Cancelled()
  return reply.content
}

interface Reply {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: unknown
}

async function askByForm(caller: Caller, ask: Ask, question: FormQuestion): Promise<Reply> {
  const { elicitation, richForms } = caller.revision.features
  const offered = caller.capabilities.elicitation
  // A capability without members means forms, as it did before there was anything else.
  const takesForms = isRecord(offered) && (Object.keys(offered).length === 0 || 'form' in offered)
  if (elicitation === 'none' || !takesForms) {
    throw missingCapability(caller, 'elicitation', { elicitation: { form: {} } })
  }
  const form = elicitationSchema(question.schema, `the question "${question.message}"`)
  const { requestedSchema } = richForms ? form : form.basic
  const mode = elicitation === 'form' ? {} : ({ mode: 'form' } as const)
  const reply = replyOf(
    await ask({ ...mode, message: question.message, requestedSchema }, question.key),
  )
  if (reply.action !== 'accept') return { action: reply.action }
  const given = isRecord(reply.content) ? reply.content : {}
  const content = form.applyDefaults(richForms ? given : form.basic.restore(given))
  const checked = await form.check(content)
  if (!checked.ok) throw errors.elicitationFailed({ reason: issueText(checked.issues) })
  return { action: 'accept', content: checked.value }
}

async function askByUrl(caller: Caller, ask: Ask, question: UrlQuestion): Promise<Reply> {
  const { revision, capabilities } = caller
  const offered = capabilities.elicitation
  if (
    revision.features.elicitation !== 'form and url' ||
    !isRecord(offered) ||
    !('url' in offered)
  ) {
    throw missingCapability(caller, 'elicitation.url', { elicitation: { url: {} } })
  }
  const identified = revision.era === 'session' ? { elicitationId: crypto.randomUUID() } : {}
  const params = {
    mode: 'url',
    message: question.message,
    url: question.url,
    ...identified,
  } as const
  const { action } = replyOf(await ask(params, question.key))
  return { action }
}

function replyOf(reply: unknown): Reply {
  if (isRecord(reply)) {
    const { action, content } = reply
    if (action === 'accept' || action === 'decline' || action === 'cancel')
      return { action, content }
  }
  throw errors.elicitationFailed({ reason: 'the answer has no action' })
}
