import type { Conversation } from '../../src/testing/conversation.ts'
import { type Revision, revisions, stateless } from '../mcp-interop/driver.ts'
import { Conversation as Checker } from '../mcp-interop/schema-check.ts'
import { taskProblems, withoutTasks } from './tasks-extension.ts'

/** A conversation that is watched while it goes on. */
export interface Watched extends Conversation {
  /** What the schemas of the revisions have against what the server sent, each problem once. */
  readonly problems: ReadonlySet<string>
}

type Message = Readonly<Record<string, unknown>>

/**
 * Looks at every message of a conversation. What the client sends tells which revision each answer has
 * to be in: that of its own `_meta`, or the one that `initialize` was answered with.
 */
export function watch(conversation: Conversation): Watched {
  const problems = new Set<string>()
  const byRevision = new Map<Revision, Checker>()
  const requested = new Map<string, Revision | undefined>()
  const methods = new Map<string, string>()
  const asked = new Set<string>()
  let session: Revision | undefined

  const checker = (revision: Revision): Checker => {
    let found = byRevision.get(revision)
    if (found === undefined) {
      found = new Checker(revision, { strict: true })
      byRevision.set(revision, found)
    }
    return found
  }
  const hear = (message: Message): void => {
    const revision = revisionIn(message)
    if ('id' in message) requested.set(keyOf(message), revision)
    if ('id' in message && 'method' in message) methods.set(keyOf(message), String(message.method))
    // As long as there is no session, every revision has to know what was asked.
    const known = revision ?? session
    for (const name of known === undefined ? revisions : [known]) {
      checker(name).sent('client', message)
    }
  }
  const check = (message: Message): void => {
    const isReply = !('method' in message)
    const own = isReply ? requested.get(keyOf(message)) : subscriptionIn(message)
    session ??= versionIn(message)
    const revision = own ?? session ?? (isReply ? '2025-11-25' : stateless)
    const answers = isReply ? methods.get(keyOf(message)) : undefined
    const found =
      taskProblems(message, revision, answers) ??
      checker(revision).sent('server', withoutTasks(message))
    for (const problem of found) problems.add(problem)
    for (const problem of errorProblems(message, revision)) problems.add(problem)
    if (isReply || !('id' in message)) return
    if (asked.has(keyOf(message))) problems.add(`the id ${keyOf(message)} is used twice`)
    asked.add(keyOf(message))
  }

  return {
    problems,
    send: text => {
      for (const message of messagesIn(text)) hear(message)
      return conversation.send(text)
    },
    next: async () => {
      const text = await conversation.next()
      const found = messagesIn(text)
      if (text.startsWith('[') && session !== '2025-03-26') problems.add('a batch')
      for (const message of found) check(message)
      return text
    },
    close: () => conversation.close(),
  }
}

/** What no schema says of errors: their words are one short line, and a range is not used. */
function errorProblems({ error }: Message, revision: Revision): readonly string[] {
  if (!isRecord(error)) return []
  const { code, message } = error
  const found: string[] = []
  if (typeof message !== 'string' || !/^\S.{0,150}$/.test(message)) {
    found.push(`the message of an error is no short sentence: ${message}`)
  }
  if (revision === stateless && typeof code === 'number' && code <= -32000 && code >= -32019) {
    found.push(`the code ${code} is not to be used`)
  }
  return found
}

function keyOf({ id }: Message): string {
  return JSON.stringify(id)
}

/** What says that a request, or an answer to one, belongs to no session. */
function revisionIn({ params }: Message): Revision | undefined {
  const meta = isRecord(params) && isRecord(params._meta) ? params._meta : {}
  return 'io.modelcontextprotocol/protocolVersion' in meta ? stateless : undefined
}

function subscriptionIn({ params }: Message): Revision | undefined {
  const meta = isRecord(params) && isRecord(params._meta) ? params._meta : {}
  return 'io.modelcontextprotocol/subscriptionId' in meta ? stateless : undefined
}

function versionIn({ result }: Message): Revision | undefined {
  const version = isRecord(result) ? result.protocolVersion : undefined
  return revisions.find(revision => revision === version)
}

/** What a text holds; nothing where it is no JSON, which is so on purpose. */
function messagesIn(text: string): readonly Message[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  return (Array.isArray(value) ? value : [value]).filter(isRecord).map(withSafeId)
}

/** Ids that JavaScript has no number for are told apart by their digits. */
function withSafeId(message: Message): Message {
  const { id } = message
  return typeof id === 'number' && !Number.isSafeInteger(id)
    ? { ...message, id: String(id) }
    : message
}

function isRecord(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
