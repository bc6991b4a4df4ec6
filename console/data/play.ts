import { computed, signal } from '@preact/signals'
import type {
  PlayFrame,
  PlayMessage,
  QuestionRow,
  RunRequest,
  RunUpdate,
} from '../../src/console/wire-play.ts'
import { ask } from './api.ts'

/** Names this page in requests of the playground. A reload makes another one. */
export const pageToken = Array.from(crypto.getRandomValues(new Uint8Array(18)), byte =>
  byte.toString(16).padStart(2, '0'),
).join('')

/** A call of the playground, with all that is known of it. */
export interface PlayRun extends RunUpdate {
  readonly request: RunRequest
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
}

/** A server request that waits for the person. */
export interface PlayQuestion extends QuestionRow {
  /** When it is answered with `cancel`, in milliseconds since 1970. */
  readonly until: number
}

/** The calls of this page, the newest first. */
export const runs = signal<readonly PlayRun[]>([])
export const questions = signal<readonly PlayQuestion[]>([])
/** Notifications of servers, the newest first. */
export const messages = signal<readonly PlayMessage[]>([])
export const messagesLeft = signal(0)
/** How often a stream of this page has joined the playground; 0 before the first time. */
export const joins = signal(0)
/** Whether a call is in flight. */
export const isCalling = computed(() => runs.value.some(({ ms }) => ms === undefined))

const mostRuns = 30
const mostMessages = 200

/** Makes a call. Rejects with a RequestError if the console refuses it. Returns its id. */
export async function startRun(request: RunRequest): Promise<string> {
  const at = Date.now()
  const { run } = await ask<{ run: string }>(`play/${pageToken}/run`, request)
  runs.value = [{ run, request, at }, ...runs.value].slice(0, mostRuns)
  // The result may have come before the answer that names the call.
  const [early, rest] = split(unclaimed, update => update.run === run)
  unclaimed = rest
  for (const update of early) applyRun(update)
  return run
}

/** Results of calls whose names are not known yet. */
let unclaimed: readonly RunUpdate[] = []

/** Applies a frame of the playground. */
export function applyPlay(frame: PlayFrame): void {
  const now = Date.now()
  for (const update of frame.runs) {
    if (runs.value.some(({ run }) => run === update.run)) applyRun(update)
    else unclaimed = [...unclaimed, update].slice(-mostRuns)
  }
  const { inFlight } = frame
  if (inFlight !== undefined) {
    joins.value++
    loseRuns(run => !inFlight.includes(run))
  }
  questions.value = frame.questions.map(question => ({ ...question, until: now + question.leftMs }))
  messages.value = [...frame.messages.toReversed(), ...messages.value].slice(0, mostMessages)
  messagesLeft.value += frame.messagesLeft
}

/** Ends the calls whose results can no longer come. */
export function loseRuns(isLost: (run: string) => boolean): void {
  const message =
    'the connection to the router was lost; it is unknown whether the call was executed'
  runs.value = runs.value.map(run =>
    run.ms === undefined && isLost(run.run) ? { ...run, ms: 0, error: { message } } : run,
  )
}

function applyRun(update: RunUpdate): void {
  runs.value = runs.value.map(run => (run.run === update.run ? { ...run, ...update } : run))
}

function split<T>(all: readonly T[], isFirst: (one: T) => boolean): [readonly T[], readonly T[]] {
  return [all.filter(isFirst), all.filter(one => !isFirst(one))]
}
