import type { Fleet } from './fleet.ts'
import { openSession, sendAlone } from './raw-session.ts'

/** What became of the calls of a load. */
export interface LoadCounts {
  ok: number
  /** Calls whose outcome is unknown, because their node was lost. */
  unknown: number
  /** Attempts that were refused without being executed, and made again. */
  refused: number
  /** Calls that were answered, and not executed. */
  lost: number
  /** Calls that were executed twice. */
  doubled: number
  /** Calls with a wrong answer, and attempts that were refused although they were executed. */
  wrong: number
  /** Sessions that were not found any more. */
  ended: number
}

/** Options of a load. */
export interface LoadOptions {
  readonly sessions: readonly string[]
  readonly workers: number
  /** Ends the load. */
  readonly signal: AbortSignal
}

/** Opens sessions, each at a random node. */
export async function openSessions(fleet: Fleet, count: number): Promise<readonly string[]> {
  const sessions: string[] = []
  while (sessions.length < count) {
    const some = Array.from({ length: 10 }, () => openSession(addressIn(fleet)))
    sessions.push(...(await Promise.all(some)))
  }
  return sessions
}

/**
 * Calls tools in many sessions, each at a random node, until it is ended. Compares what callers were told with the ledger
 * of what was executed.
 */
export async function runLoad(fleet: Fleet, options: LoadOptions): Promise<LoadCounts> {
  const counts: LoadCounts = {
    ...{ ok: 0, unknown: 0, refused: 0, lost: 0, doubled: 0, wrong: 0, ended: 0 },
  }
  const answered: string[] = []
  const refused: string[] = []
  const { sessions } = options
  let last = 0
  const worker = async (): Promise<void> => {
    while (!options.signal.aborted) {
      const session = sessions[Math.floor(Math.random() * sessions.length)] ?? ''
      await callOnce(session)
    }
  }
  const callOnce = async (session: string): Promise<void> => {
    for (;;) {
      const id = `call-${++last}`
      const outcome = await attempt(fleet, session, id)
      counts[outcome]++
      if (outcome === 'ok') answered.push(id)
      if (outcome !== 'refused') return
      refused.push(id)
      if (options.signal.aborted) return
    }
  }
  await Promise.all(Array.from({ length: options.workers }, worker))
  const written = fleet.written()
  for (const id of answered) if (!written.has(id)) counts.lost++
  for (const id of refused) if (written.has(id)) counts.wrong++
  for (const times of written.values()) if (times > 1) counts.doubled++
  return counts
}

type Outcome = 'ok' | 'unknown' | 'refused' | 'wrong' | 'ended'

async function attempt(fleet: Fleet, session: string, id: string): Promise<Outcome> {
  const address = addressIn(fleet)
  let answer: Awaited<ReturnType<typeof sendAlone>>
  try {
    const params = { name: 'write', arguments: { id } }
    answer = await sendAlone(address, session, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params,
    })
  } catch (error) {
    // A connection that was refused has carried nothing.
    return isRefused(error) ? 'refused' : 'unknown'
  }
  const { status, message } = answer
  if (status === 503) return 'refused'
  if (status === 404) return 'ended'
  if (message.error?.data?.outcome === 'unknown') return 'unknown'
  return message.result?.content?.[0]?.text === id ? 'ok' : 'wrong'
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

function addressIn(fleet: Fleet): string {
  const { nodes } = fleet
  return nodes[Math.floor(Math.random() * nodes.length)]?.address ?? ''
}
