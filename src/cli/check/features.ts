import { hasReservedPrefix, metaKeyProblem, metaKeys } from '../../mcp/meta.ts'
import { mcpMethods } from '../../mcp/methods.ts'
import type { Features } from '../../mcp/revisions/revision.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { oneLine } from '../terminal.ts'
import { type CheckContext, type EraState, members } from './context.ts'
import { type Finding, fail, habit, notApplicable, ok, warn } from './finding.ts'
import { type CheckSession, replyText } from './session.ts'
import type { MessageObject } from './wire/wire.ts'

/** A list method of the protocol. */
interface ListRow {
  readonly method: string
  readonly member: string
  /** The member that identifies an entry. */
  readonly key: string
  readonly capability: string
  /** Whether a server with the capability may leave the method out. */
  readonly isOptional?: boolean
}

const rows: readonly ListRow[] = [
  listRow('tools/list', 'name'),
  listRow('resources/list', 'uri'),
  { ...listRow('resources/templates/list', 'uriTemplate'), isOptional: true },
  listRow('prompts/list', 'name'),
]

function listRow(
  method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list',
  key: string,
): ListRow {
  const { items, capability } = mcpMethods[method]
  return { method, member: items, key, capability }
}

/** Step `capabilities`: checks that declared capabilities work, and that working ones are declared. */
export function capabilities(context: CheckContext): Promise<readonly Finding[]> {
  return context.inEachEra(async state => {
    const declared = oneLine(Object.keys(state.capabilities).join(', '), 200)
    const findings = [ok(declared === '' ? 'no capabilities declared' : `declared: ${declared}`)]
    for (const row of rows) findings.push(...(await declaredList(state, row)))
    findings.push(...(await declaredMethods(state)))
    return findings
  })
}

async function declaredList(
  state: EraState,
  { method, capability, isOptional }: ListRow,
): Promise<readonly Finding[]> {
  const isDeclared = state.capabilities[capability] !== undefined
  const reply = await state.session.request(method)
  if (reply.type === 'result') {
    if (isDeclared || isEmptyList(reply.result)) return []
    const advice = `Declare the capability "${capability}": clients do not call methods of undeclared capabilities.`
    return [warn(`${method} works, but "${capability}" is not declared`, advice)]
  }
  if (!isDeclared || (isOptional && reply.type === 'error' && reply.code === -32601)) return []
  const message = `"${capability}" is declared, but ${method} fails: got ${replyText(reply)}`
  const isServersFault = reply.type !== 'error' || [-32601, -32602].includes(Number(reply.code))
  if (isServersFault) {
    return [fail(message, `Implement ${method}, or do not declare "${capability}".`)]
  }
  const advice =
    'Read the error: a service that the server needs may be missing here, or the server has a bug.'
  return [warn(message, advice)]
}

function isEmptyList(result: unknown): boolean {
  return Object.values(members(result)).every(value => !Array.isArray(value) || value.length === 0)
}

/** Calls a method of each capability that has no list, with params that change nothing. */
async function declaredMethods(state: EraState): Promise<readonly Finding[]> {
  const { session, capabilities: declared } = state
  const calls: (readonly [capability: string, method: string, params: object])[] = []
  if (declared.logging !== undefined && session.era === 'session') {
    calls.push(['logging', 'logging/setLevel', { level: 'info' }])
  }
  if (declared.completions !== undefined) {
    const ref = { type: 'ref/prompt', name: 'trunkline-check-no-such-prompt' }
    calls.push([
      'completions',
      'completion/complete',
      { ref, argument: { name: 'none', value: '' } },
    ])
  }
  const findings: Finding[] = []
  for (const [capability, method, params] of calls) {
    const reply = await session.request(method, params)
    const isImplemented =
      reply.type === 'result' || (reply.type === 'error' && reply.code !== -32601)
    if (isImplemented) continue
    const message = `"${capability}" is declared, but ${method} fails: got ${replyText(reply)}`
    findings.push(fail(message, `Implement ${method}, or do not declare "${capability}".`))
  }
  return findings
}

/** Step `lists`: reads every list to its last page, and checks its entries and cursors. */
export async function lists(context: CheckContext): Promise<readonly Finding[]> {
  const findings = await context.inEachEra(async state => {
    const found: Finding[] = []
    const lenient: string[] = []
    for (const row of rows) {
      if (state.capabilities[row.capability] === undefined) continue
      found.push(...(await readList(state, row)))
      if (state.lists.has(row.method)) found.push(...(await badCursor(state.session, row, lenient)))
    }
    if (lenient.length === 0) return found
    const advice = 'Reject a cursor that the server never issued with error -32602.'
    return [...found, habit(`a made-up cursor is accepted by ${lenient.join(', ')}`, advice)]
  })
  return findings.length === 0 ? [notApplicable('the server has no lists')] : findings
}

/** Reads a list page by page, and stores its entries for later steps. */
async function readList(state: EraState, row: ListRow): Promise<readonly Finding[]> {
  const { method, member } = row
  const entries: MessageObject[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let page = 1; ; page++) {
    const reply = await state.session.request(method, cursor === undefined ? {} : { cursor })
    if (reply.type !== 'result') {
      // The step `capabilities` reports a list that does not work at all.
      return page === 1 ? [] : [failedPage(method, page, replyText(reply))]
    }
    const result = members(reply.result)
    const list = result[member]
    if (!Array.isArray(list)) return [noList(row)]
    entries.push(...list.map(members))
    const { nextCursor } = result
    if (nextCursor === undefined || nextCursor === null || nextCursor === '') {
      state.lists.set(method, entries)
      const nulls = nextCursor === undefined ? [] : [nullCursor(method, nextCursor)]
      const { reservedPrefixes } = (state.session.agreed ?? state.session.revision).features
      const meta = metaFindings(method, entries, reservedPrefixes)
      return [...nulls, ...entryFindings(row, entries, page), ...meta]
    }
    if (typeof nextCursor !== 'string') return [invalidCursor(method, nextCursor)]
    const isRepeated = cursors.has(nextCursor)
    if (isRepeated || page >= limits.pages.default) {
      state.lists.set(method, entries)
      const problem = isRepeated
        ? 'returns the same cursor twice'
        : `does not end after ${page} pages`
      return [endlessList(method, problem)]
    }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
}

function failedPage(method: string, page: number, reply: string): Finding {
  const advice = `Accept every cursor that ${method} has issued.`
  return fail(`page ${page} of ${method} fails: got ${reply}`, advice)
}

function noList({ method, member }: ListRow): Finding {
  const advice = `Return { "${member}": [ … ] } from ${method}.`
  return fail(`the result of ${method} has no array "${member}"`, advice)
}

function invalidCursor(method: string, cursor: unknown): Finding {
  const message = `nextCursor of ${method} is ${oneLine(JSON.stringify(cursor), 60)}`
  return fail(message, 'A cursor must be a string.')
}

function endlessList(method: string, problem: string): Finding {
  const advice = 'Omit nextCursor on the last page: clients follow it until it is absent.'
  return fail(`${method} ${problem}`, advice)
}

function nullCursor(method: string, cursor: unknown): Finding {
  const message = `the last page of ${method} has the nextCursor ${JSON.stringify(cursor)}`
  return warn(message, 'Omit nextCursor on the last page.')
}

function entryFindings(
  { method, key }: ListRow,
  entries: readonly MessageObject[],
  pages: number,
): readonly Finding[] {
  const findings: Finding[] = []
  const nameless = entries.filter(entry => typeof entry[key] !== 'string')
  if (nameless.length > 0) {
    findings.push(
      fail(
        `${nameless.length} ${nameless.length === 1 ? 'entry' : 'entries'} of ${method} without ${key}`,
        `Give every entry a ${key} that is a string.`,
      ),
    )
  }
  const seen = new Set<unknown>()
  for (const { [key]: name } of entries) {
    if (typeof name !== 'string') continue
    if (seen.has(name)) {
      const advice = `Give each entry a unique ${key}: clients keep only one of the duplicates.`
      findings.push(fail(`${method} lists "${oneLine(name, 100)}" twice`, advice))
    }
    seen.add(name)
  }
  if (findings.length === 0) {
    const on = pages === 1 ? '' : ` on ${pages} pages`
    findings.push(
      ok(`${method}: ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}${on}`),
    )
  }
  return findings
}

async function badCursor(
  session: CheckSession,
  { method }: ListRow,
  lenient: string[],
): Promise<readonly Finding[]> {
  const reply = await session.request(method, { cursor: 'trunkline-check-no-such-cursor' })
  if (reply.type === 'result') lenient.push(method)
  if (reply.type === 'result' || reply.type === 'error') return []
  const message = `${method} with a made-up cursor: got ${replyText(reply)}`
  return [fail(message, 'Reject an unknown cursor with error -32602.')]
}

/** Checks that the `_meta` keys of list entries have a valid name and no reserved prefix. */
export function metaFindings(
  method: string,
  entries: readonly MessageObject[],
  rule: Features['reservedPrefixes'],
): readonly Finding[] {
  if (rule === 'none') return []
  const keys = new Set(entries.flatMap(({ _meta }) => (isRecord(_meta) ? Object.keys(_meta) : [])))
  return Array.from(keys).flatMap(key => {
    const shown = `the _meta key "${oneLine(key, 100)}" in ${method}`
    const problem = metaKeyProblem(key)
    if (problem !== undefined) {
      return [warn(`${shown} is invalid: ${problem}`, 'Use a name such as `com.example/name`.')]
    }
    if (!hasReservedPrefix(key, rule) || protocolKeys.has(key)) return []
    const advice = 'Use a domain that you own, in reverse order, as the prefix.'
    return [warn(`${shown} has a prefix that is reserved for the protocol`, advice)]
  })
}

const protocolKeys: ReadonlySet<string> = new Set(Object.values(metaKeys))

/** Returns the entries of a list that the step `lists` has read; empty if it has not. */
export function entriesOf(state: EraState, method: string): readonly MessageObject[] {
  return (state.lists.get(method) ?? []).filter(isRecord)
}
