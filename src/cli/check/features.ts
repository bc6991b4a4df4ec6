import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import { oneLine } from '../terminal.ts'
import { type Known, members, type Probe } from './context.ts'
import { type Finding, fail, none, ok, warn } from './finding.ts'
import { metaFindings } from './meta.ts'
import { replyText, type Talk } from './session.ts'
import type { Heard } from './wire.ts'

/** One list that a server may have. */
interface ListRow {
  readonly method: string
  readonly member: string
  /** What tells its entries apart. */
  readonly key: string
  readonly capability: string
  /** Whether the capability can be there without it. */
  readonly isOptional?: boolean
}

const rows: readonly ListRow[] = [
  { method: 'tools/list', member: 'tools', key: 'name', capability: 'tools' },
  { method: 'resources/list', member: 'resources', key: 'uri', capability: 'resources' },
  {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
    capability: 'resources',
    isOptional: true,
  },
  { method: 'prompts/list', member: 'prompts', key: 'name', capability: 'prompts' },
]

/** Whether what was declared works, and what works was declared. */
export function capabilities(probe: Probe): Promise<readonly Finding[]> {
  return probe.inEach(async known => {
    const declared = oneLine(Object.keys(known.capabilities).join(', '), 200)
    const findings = [ok(declared === '' ? 'nothing is declared' : `declared: ${declared}`)]
    for (const row of rows) findings.push(...(await declaredList(known, row)))
    findings.push(...(await declaredMethods(known)))
    return findings
  })
}

async function declaredList(
  known: Known,
  { method, capability, isOptional }: ListRow,
): Promise<readonly Finding[]> {
  const isDeclared = known.capabilities[capability] !== undefined
  const reply = await known.talk.ask(method)
  if (reply.type === 'result') {
    if (isDeclared || isEmptyList(reply.result)) return []
    const advice = `Declare "${capability}" among the capabilities: clients do not ask for what is not declared.`
    return [warn(`${method} works, and "${capability}" is not declared`, advice)]
  }
  if (!isDeclared || (isOptional && reply.type === 'error' && reply.code === -32601)) return []
  const advice = `Answer ${method}, or do not declare "${capability}".`
  return [fail(`"${capability}" is declared, and ${method} gives ${replyText(reply)}`, advice)]
}

function isEmptyList(result: unknown): boolean {
  return Object.values(members(result)).every(value => !Array.isArray(value) || value.length === 0)
}

/** Methods that stand for a capability, with params that change nothing. */
async function declaredMethods(known: Known): Promise<readonly Finding[]> {
  const { talk, capabilities: declared } = known
  const asked: (readonly [capability: string, method: string, params: object])[] = []
  if (declared.logging !== undefined && talk.era === 'session') {
    asked.push(['logging', 'logging/setLevel', { level: 'info' }])
  }
  if (declared.completions !== undefined) {
    const ref = { type: 'ref/prompt', name: 'trunkline-check-no-such-prompt' }
    asked.push([
      'completions',
      'completion/complete',
      { ref, argument: { name: 'none', value: '' } },
    ])
  }
  const findings: Finding[] = []
  for (const [capability, method, params] of asked) {
    const reply = await talk.ask(method, params)
    const isThere = reply.type === 'result' || (reply.type === 'error' && reply.code !== -32601)
    if (isThere) continue
    const saw = `"${capability}" is declared, and ${method} gives ${replyText(reply)}`
    findings.push(fail(saw, `Answer ${method}, or do not declare "${capability}".`))
  }
  return findings
}

/** Whether every list can be read to its end, once each entry. */
export async function lists(probe: Probe): Promise<readonly Finding[]> {
  const findings = await probe.inEach(async known => {
    const found: Finding[] = []
    const lenient: string[] = []
    for (const row of rows) {
      if (known.capabilities[row.capability] === undefined) continue
      found.push(...(await read(known, row)))
      if (known.lists.has(row.method)) found.push(...(await badCursor(known.talk, row, lenient)))
    }
    if (lenient.length === 0) return found
    const advice = 'Refuse a cursor that was never given out with the error -32602.'
    return [
      ...found,
      warn(`a cursor that was never given out is taken by ${lenient.join(', ')}`, advice),
    ]
  })
  return findings.length === 0 ? [none('the server has no lists')] : findings
}

/** Reads a list to its end, page by page. */
async function read(known: Known, row: ListRow): Promise<readonly Finding[]> {
  const { method, member } = row
  const entries: Heard[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let page = 1; ; page++) {
    const reply = await known.talk.ask(method, cursor === undefined ? {} : { cursor })
    if (reply.type !== 'result') {
      // That there is none at all, the step before has said where it is wrong.
      return page === 1 ? [] : [brokenOff(method, page, replyText(reply))]
    }
    const result = members(reply.result)
    const list = result[member]
    if (!Array.isArray(list)) return [noList(row)]
    entries.push(...list.map(members))
    const { nextCursor } = result
    if (nextCursor === undefined || nextCursor === null || nextCursor === '') {
      known.lists.set(method, entries)
      const nulls = nextCursor === undefined ? [] : [nullCursor(method, nextCursor)]
      const { reservedPrefixes } = (known.talk.agreed ?? known.talk.revision).features
      const meta = metaFindings(method, entries, reservedPrefixes)
      return [...nulls, ...judge(row, entries, page), ...meta]
    }
    if (typeof nextCursor !== 'string') return [oddCursor(method, nextCursor)]
    const isAgain = cursors.has(nextCursor)
    if (isAgain || page >= limits.pages.default) {
      known.lists.set(method, entries)
      const why = isAgain
        ? 'gives a cursor that it has given before'
        : `does not end after ${page} pages`
      return [endless(method, why)]
    }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
}

function brokenOff(method: string, page: number, how: string): Finding {
  const advice = `Answer ${method} with every cursor that was given out.`
  return fail(`page ${page} of ${method} is ${how}`, advice)
}

function noList({ method, member }: ListRow): Finding {
  const advice = `Answer ${method} with { "${member}": [ … ] }.`
  return fail(`the result of ${method} has no list "${member}"`, advice)
}

function oddCursor(method: string, cursor: unknown): Finding {
  const saw = `nextCursor of ${method} is ${oneLine(JSON.stringify(cursor), 60)}`
  return fail(saw, 'A cursor is a string.')
}

function endless(method: string, why: string): Finding {
  const advice = 'Leave nextCursor out on the last page: clients follow it until it is gone.'
  return fail(`${method} ${why}`, advice)
}

function nullCursor(method: string, cursor: unknown): Finding {
  const saw = `the last page of ${method} has the nextCursor ${JSON.stringify(cursor)}`
  return warn(saw, 'Leave nextCursor out on the last page.')
}

function judge(
  { method, key }: ListRow,
  entries: readonly Heard[],
  pages: number,
): readonly Finding[] {
  const findings: Finding[] = []
  const nameless = entries.filter(entry => typeof entry[key] !== 'string')
  if (nameless.length > 0) {
    findings.push(
      fail(
        `${nameless.length} entries of ${method} have no ${key}`,
        `Give every entry a ${key}, which is a string.`,
      ),
    )
  }
  const seen = new Set<unknown>()
  for (const { [key]: name } of entries) {
    if (typeof name !== 'string') continue
    if (seen.has(name)) {
      const advice = `Give each entry a ${key} of its own: clients keep one of them and lose the other.`
      findings.push(fail(`${method} has "${oneLine(name, 100)}" twice`, advice))
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
  talk: Talk,
  { method }: ListRow,
  lenient: string[],
): Promise<readonly Finding[]> {
  const reply = await talk.ask(method, { cursor: 'trunkline-check-no-such-cursor' })
  if (reply.type === 'result') lenient.push(method)
  if (reply.type === 'result' || reply.type === 'error') return []
  const saw = `${method} answers a bad cursor with ${replyText(reply)}`
  return [fail(saw, 'Answer a bad cursor with the error -32602.')]
}

/** The entries of a list that an earlier step has read. */
export function entriesOf(known: Known, method: string): readonly Heard[] {
  return (known.lists.get(method) ?? []).filter(isRecord)
}
