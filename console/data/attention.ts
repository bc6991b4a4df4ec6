import type { FigurePoint, PinRow, ServerRow } from '../../src/console/wire.ts'
import { figure, percent } from './format.ts'

/** Something that needs a person, and what to press. */
export interface Attention {
  readonly id: string
  readonly level: 'error' | 'warn' | 'info'
  /** What it is about. */
  readonly subject: string
  readonly text: string
  /** Where to look. */
  readonly links: readonly { readonly label: string; readonly to: string }[]
  /** The server that can be retried. */
  readonly retry?: string
}

/** What is known when the list is made. */
export interface Known {
  readonly servers: readonly ServerRow[]
  readonly pins: readonly PinRow[]
  readonly figures: readonly FigurePoint[]
}

/** Returns what is wrong, the worst first. */
export function attentionOf({ servers, pins, figures }: Known): readonly Attention[] {
  const found = [
    ...servers.flatMap(serverAttention),
    ...pins.map(pinAttention),
    ...failingServers(figures),
    ...refusals(figures),
    ...hanging(figures),
  ]
  return found.sort((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level))
}

const levels: readonly Attention['level'][] = ['error', 'warn', 'info']

function serverAttention(server: ServerRow): readonly Attention[] {
  const { name, level, reason = '', isQuarantined, retryInMs } = server
  if (level === 'ok') return []
  const to = `#/servers/${encodeURIComponent(name)}`
  const links = [{ label: 'Log', to }]
  const isStarting = !isQuarantined && /^(?:it is )?starting$/.test(reason)
  if (isStarting) {
    return [{ id: `server ${name}`, level: 'info', subject: name, text: 'is starting', links }]
  }
  const soon =
    retryInMs === undefined ? '' : `; tried again in ${figure(Math.ceil(retryInMs / 1000))} s`
  const text = isQuarantined ? `quarantined: ${reason}` : `${reason}${soon}`
  const own = { id: `server ${name}`, subject: name, text, links, retry: name }
  return [{ ...own, level: level === 'down' ? 'error' : 'warn' }]
}

function pinAttention({ server, tool, summary, isBlocked }: PinRow): Attention {
  const effect = isBlocked ? 'blocked until it is approved' : 'still served'
  return {
    id: `pin ${server} ${tool}`,
    level: 'warn',
    subject: server,
    text: `the definition of ${tool} has changed, ${effect}: ${summary}`,
    links: [{ label: 'Difference', to: `#/tools?changed=1&q=${encodeURIComponent(tool)}` }],
  }
}

/** Names servers many of whose calls failed within the last half minute. */
function failingServers(figures: readonly FigurePoint[]): readonly Attention[] {
  const sums = new Map<string, { calls: number; failed: number }>()
  for (const { servers } of figures.slice(-30)) {
    for (const [name, { calls, failed }] of Object.entries(servers)) {
      const sum = sums.get(name) ?? { calls: 0, failed: 0 }
      sums.set(name, { calls: sum.calls + calls, failed: sum.failed + failed })
    }
  }
  return Array.from(sums).flatMap(([name, { calls, failed }]) => {
    if (failed < 3 || failed / calls < 0.05) return []
    const text = `${percent(failed / calls)} of its calls failed in the last 30 s`
    const to = `#/traffic?q=${encodeURIComponent(`server:${name} is:failed`)}`
    const subject = name === '' ? 'router' : name
    return [
      { id: `failing ${name}`, level: 'warn', subject, text, links: [{ label: 'Calls', to }] },
    ]
  })
}

function refusals(figures: readonly FigurePoint[]): readonly Attention[] {
  const recent = figures.slice(-10)
  const refused = recent.reduce((sum, point) => sum + point.refused, 0)
  if (refused < 1) return []
  const rate = figure(refused / Math.max(1, recent.length))
  const text = `limits refuse ${rate} calls/s: a caller sends more than it may`
  const to = `#/traffic?q=${encodeURIComponent('rate_limited')}`
  return [
    { id: 'refused', level: 'warn', subject: 'limits', text, links: [{ label: 'Calls', to }] },
  ]
}

/** Says that calls are in flight and none has finished for a while. */
function hanging(figures: readonly FigurePoint[]): readonly Attention[] {
  const recent = figures.slice(-10)
  const last = recent.at(-1)
  const isHanging =
    recent.length === 10 &&
    recent.every(({ inFlight, ok, failed, toolErrors }) => {
      return inFlight > 0 && ok + failed + toolErrors === 0
    })
  if (!isHanging || last === undefined) return []
  const calls = last.inFlight === 1 ? 'one call is' : `${last.inFlight} calls are`
  const text = `${calls} in flight, and none has finished for 10 s`
  const to = `#/traffic?q=${encodeURIComponent('is:running')}`
  return [{ id: 'hanging', level: 'warn', subject: 'calls', text, links: [{ label: 'Calls', to }] }]
}
