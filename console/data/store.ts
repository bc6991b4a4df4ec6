import { computed, signal } from '@preact/signals'
import type {
  CallRow,
  ChangeRow,
  ConsoleFrame,
  FigurePoint,
  HelloFrame,
  LogRow,
  PinRow,
  ServerRow,
  StateAnswer,
  ToolFigure,
} from '../../src/console/wire.ts'
import { attentionOf } from './attention.ts'
import { applyPlay } from './play.ts'

/** The connection to the console: `key` means that the key is wrong. */
export const link = signal<'connecting' | 'live' | 'lost' | 'key'>('connecting')
/** Since when the connection is lost. */
export const lostAt = signal(0)
/** Why the connection was lost. */
export const lostReason = signal('')
export const hello = signal<HelloFrame | undefined>(undefined)
export const servers = signal<readonly ServerRow[]>([])
export const changes = signal<readonly ChangeRow[]>([])
export const figures = signal<readonly FigurePoint[]>([])
export const failures = signal<readonly CallRow[]>([])
export const pins = signal<readonly PinRow[]>([])
export const slowest = signal<readonly ToolFigure[]>([])
export const calls = signal<readonly CallRow[]>([])
/** Calls that were not sent to the page, since it was opened. */
export const leftOut = signal(0)
export const callsInFlight = signal(0)
export const isPaused = signal(false)
/** When the recording of calls ends by itself; 0 while nothing is recorded. */
export const recordingUntil = signal(0)
export const logLines = signal<readonly LogRow[]>([])
export const logLeft = signal(0)
/** A short message about what was done. */
export const notice = signal('')

/** The newest figures. */
export const newest = computed(() => figures.value.at(-1))
export const attention = computed(() =>
  attentionOf({ servers: servers.value, pins: pins.value, figures: figures.value }),
)
/** Whether a viewer may change something. */
export const mayChange = computed(() => hello.value?.actions === 'all')

const mostFigures = 900
const mostCalls = 2000
const mostLines = 1000

/** Calls that came while the page was paused. */
let held: CallRow[] = []

/** Applies the answer to the first request. */
export function applyState(state: StateAnswer): void {
  hello.value = state.hello
  servers.value = state.servers
  changes.value = state.changes
  figures.value = state.figures
  failures.value = state.failures
  pins.value = state.pins
  slowest.value = state.slowest
}

/** Applies a frame of the stream. */
export function applyFrame(frame: ConsoleFrame): void {
  switch (frame.event) {
    case 'hello':
      hello.value = frame
      return
    case 'fleet':
      servers.value = frame.isWhole ? frame.servers : merged(servers.value, frame.servers)
      return
    case 'changes':
      changes.value = newRows(changes.value, frame.rows).slice(-500)
      return
    case 'figures':
      figures.value = [...figures.value, ...frame.points].slice(-mostFigures)
      return
    case 'calls':
      callsInFlight.value = frame.inFlight
      leftOut.value += frame.left.reduce((sum, { count }) => sum + count, 0)
      if (isPaused.value) held.push(...frame.rows)
      else if (frame.rows.length > 0) addCalls(frame.rows)
      return
    case 'log':
      logLines.value = newRows(logLines.value, frame.rows).slice(-mostLines)
      logLeft.value += frame.left
      return
    case 'recording':
      recordingUntil.value = frame.leftMs === 0 ? 0 : Date.now() + frame.leftMs
      return
    case 'play':
      applyPlay(frame)
      return
    case 'gap':
      notice.value = `${frame.frames} updates were left out: this page reads too slowly`
  }
}

/** Stops or continues drawing. What comes meanwhile is kept. */
export function setPaused(paused: boolean): void {
  isPaused.value = paused
  if (paused) return
  addCalls(held.slice(-mostCalls))
  held = []
}

/** Forgets the calls that are shown. */
export function clearCalls(): void {
  calls.value = []
  leftOut.value = 0
  held = []
}

function addCalls(rows: readonly CallRow[]): void {
  const fresh = new Map(rows.map(row => [row.seq, row]))
  const kept = calls.value.map(row => fresh.get(row.seq) ?? row)
  const known = new Set(calls.value.map(row => row.seq))
  const added = [...fresh.values()].filter(row => !known.has(row.seq))
  calls.value = [...kept, ...added].slice(-mostCalls)
}

/** Replaces rows of the same name. */
function merged(old: readonly ServerRow[], changed: readonly ServerRow[]): readonly ServerRow[] {
  const byName = new Map(changed.map(row => [row.name, row]))
  return old.map(row => byName.get(row.name) ?? row)
}

function newRows<T extends { readonly seq: number }>(
  old: readonly T[],
  rows: readonly T[],
): readonly T[] {
  const last = old.at(-1)?.seq ?? 0
  return [...old, ...rows.filter(row => row.seq > last)]
}
