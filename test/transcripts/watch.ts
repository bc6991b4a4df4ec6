import type { Conversation } from '../../src/testing/conversation.ts'
import { type Revision, revisions, stateless } from '../mcp-interop/driver.ts'
import { Conversation as Checker } from '../mcp-interop/schema-check.ts'
import { taskProblems, withoutTasks } from './tasks-extension.ts'

/** A conversation whose messages are checked. */
export interface Watched extends Conversation {
  /** The violations of the revision's schema by messages of the server, each once. */
  readonly problems: ReadonlySet<string>
}

type Message = Readonly<Record<string, unknown>>

/**
 * Checks every message of a conversation. The messages of the client determine the revision of each
 * response: the one in `_meta` of the request, or the one in the response to `initialize`.
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
  const recordSent = (message: Message): void => {
    const revision = revisionIn(message)
    if ('id' in message) requested.set(keyOf(message), revision)
    if ('id' in message && 'method' in message) methods.set(keyOf(message), String(message.method))
    // Before there is a session, the request is recorded for every revision.
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
      for (const message of messagesIn(text)) recordSent(message)
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

/**
 * Checks rules for errors that no schema has: a message is one short line, and a range of codes is not
 * used.
 */
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

/** Returns the stateless revision if a request names one in `_meta`. */
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

/** Returns the messages in a text; none if it is not JSON, which some transcripts send on purpose. */
function messagesIn(text: string): readonly Message[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  return (Array.isArray(value) ? value : [value]).filter(isRecord).map(withSafeId)
}

/** Ids that are not safe integers are compared by their digits. */
function withSafeId(message: Message): Message {
  const { id } = message
  return typeof id === 'number' && !Number.isSafeInteger(id)
    ? { ...message, id: String(id) }
    : message
}

function isRecord(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
