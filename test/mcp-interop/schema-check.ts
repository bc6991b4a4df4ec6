import { isBefore, type Revision, type Side, stateless } from './driver.ts'
import { notifications, requests } from './schema/methods.ts'
import { officialProblems } from './schema/official.ts'
import {
  exists,
  id,
  integer,
  isRecord,
  object,
  optional,
  type Place,
  string,
} from './schema/shape.ts'
import { clientCapabilities } from './schema/types.ts'

export interface CheckOptions {
  /** For a result: the method of its request. Without it, only the outer structure is checked. */
  readonly answers?: string
  /** Whether members that the revision does not have are problems too. */
  readonly strict?: boolean
}

type Message = Readonly<Record<string, unknown>>

/**
 * The problems of a message by the schema of a revision: our own tables for every revision, and the
 * schemas that packages publish where there are any. A batch is checked message by message. A valid
 * message returns an empty list.
 */
export function checkSent(
  revision: Revision,
  from: Side,
  message: unknown,
  { answers, strict = false }: CheckOptions = {},
): string[] {
  if (Array.isArray(message)) return checkBatch(revision, from, message, strict)
  if (!isRecord(message)) return ['the message is not an object']
  const problems: string[] = []
  const place: Place = { revision, path: 'message', problems, strict }
  if (message.jsonrpc !== '2.0') problems.push('message.jsonrpc is not 2.0')
  const kinds = ['method', 'result', 'error'].filter(member => member in message)
  if (kinds.length !== 1) return [...problems, 'the message is not of exactly one kind']
  if ('method' in message) checkCall(message, from, place)
  else checkReply(message, from, answers, place)
  return [...problems, ...officialProblems(revision, message, answers)]
}

/** Checks the messages of a conversation: it knows which request a result answers. */
export class Conversation {
  readonly #revision: Revision
  readonly #strict: boolean
  readonly #asked = new Map<string, string>()

  constructor(revision: Revision, options: { readonly strict?: boolean } = {}) {
    this.#revision = revision
    this.#strict = options.strict ?? false
  }

  /** The problems of the next message, each prefixed with the method of the message. */
  sent(from: Side, message: unknown): string[] {
    if (Array.isArray(message)) return message.flatMap(each => this.sent(from, each))
    if (!isRecord(message)) return ['the message is not an object']
    const other: Side = from === 'client' ? 'server' : 'client'
    const { method, id: key } = message
    const answers = method === undefined ? this.#asked.get(keyOf(other, key)) : undefined
    if (typeof method === 'string' && key !== undefined) {
      this.#asked.set(keyOf(from, key), method)
    }
    const about = `${from}: ${method ?? `answer to ${answers}`}:`
    const options = { answers, strict: this.#strict }
    return checkSent(this.#revision, from, message, options).map(problem => `${about} ${problem}`)
  }
}

/** Ids of different types are different ids. */
function keyOf(asker: Side, key: unknown): string {
  return `${asker} ${JSON.stringify(key)}`
}

function checkBatch(
  revision: Revision,
  from: Side,
  batch: readonly unknown[],
  strict: boolean,
): string[] {
  if (revision !== '2025-03-26') return [`${revision} has no batches`]
  if (batch.length === 0) return ['the batch is empty']
  return batch.flatMap((message, i) => {
    const problems = checkSent(revision, from, message, { strict })
    if (isRecord(message) && message.method === 'initialize') problems.push('is in a batch')
    return problems.map(problem => `[${i}] ${problem}`)
  })
}

function checkCall(message: Message, from: Side, place: Place): void {
  const { revision, problems, path } = place
  const { method } = message
  if (typeof method !== 'string') {
    problems.push(`${path}.method is not a string`)
    return
  }
  const isRequest = 'id' in message
  const row = (isRequest ? requests : notifications).get(method)
  if (isRequest) id(message.id, { ...place, path: `${path}.id` })
  if (row === undefined || !exists({ from: row.since, until: row.until }, revision)) {
    problems.push(`${method} is not in ${revision}`)
    return
  }
  if (!row.from.includes(from)) problems.push(`${method} is not sent by a ${from}`)
  object({ jsonrpc: string, method: string, id: optional(id), params: row.params })(message, place)
}

function checkReply(message: Message, from: Side, answers: string | undefined, place: Place): void {
  const { revision, path, problems } = place
  if (revision === stateless && from === 'client') problems.push('a client sends no replies')
  if ('error' in message) {
    checkError(message, place)
    return
  }
  id(message.id, { ...place, path: `${path}.id` })
  const shape = answers === undefined ? undefined : requests.get(answers)?.result
  shape?.(message.result, { ...place, path: 'result' })
}

/** Error codes of the specification that require data. */
const withData = new Map([
  [-32042, object({ elicitations: () => {} })],
  [-32021, object({ requiredCapabilities: clientCapabilities })],
  [-32022, object({ supported: () => {}, requested: string })],
])

function checkError({ error, id: key }: Message, place: Place): void {
  const { revision, problems } = place
  const isLate = !isBefore(revision, '2025-11-25')
  // The older schemas have no error without an id; JSON-RPC itself requires null there.
  if (key === null && isLate) problems.push('message.id is null: it is to be left out')
  if (key === undefined && !isLate) problems.push('message.id is missing')
  if (key !== undefined && key !== null) id(key, { ...place, path: 'message.id' })
  const inner = { ...place, path: 'error', strict: false }
  object({ code: integer, message: string })(error, inner)
  if (!isRecord(error) || typeof error.code !== 'number') return
  const { code, data } = error
  if (revision === stateless) checkNumber(code, place)
  const isOwn = code === -32042 ? revision === '2025-11-25' : revision === stateless
  if (isOwn) withData.get(code)?.(data, { ...inner, path: 'error.data' })
}

/** 2026-07-28 reserves a range, and retired two codes. */
function checkNumber(code: number, { problems }: Place): void {
  const isReserved = code <= -32020 && code >= -32099
  const isDefined = code === -32020 || code === -32021 || code === -32022
  if ((isReserved && !isDefined) || code === -32002) {
    problems.push(`error.code ${code} is not to be sent in ${stateless}`)
  }
}
