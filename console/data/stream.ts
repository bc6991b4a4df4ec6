import type { ConsoleFrame, StateAnswer } from '../../src/console/wire.ts'
import { ask, key, RequestError, send } from './api.ts'
import { loseRuns, pageToken } from './play.ts'
import {
  applyFrame,
  applyState,
  calls,
  changes,
  hello,
  link,
  logLines,
  lostAt,
  lostReason,
  notice,
  recordingUntil,
} from './store.ts'

let current: AbortController | undefined
let shown = ''

/** Follows the console, and connects again when the connection is lost. `topics` is what the page shows. */
export function follow(topics: string): void {
  if (current !== undefined && topics === shown) return
  shown = topics
  current?.abort()
  const mine = new AbortController()
  current = mine
  void run(topics, mine.signal)
}

/** Connects anew, for example with another key. */
export function reconnect(): void {
  const topics = shown
  current?.abort()
  current = undefined
  follow(topics)
}

async function run(topics: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    if (key.value === '') {
      link.value = 'key'
      return
    }
    try {
      const state = await ask<StateAnswer>('state')
      if (signal.aborted) return
      adopt(state)
      const page = topics.split(',').includes('play') ? `&page=${pageToken}` : ''
      const response = await send(`stream?topics=${topics}${page}`, undefined, signal)
      link.value = 'live'
      attempt = 0
      await read(response, signal)
      lose('the connection was closed')
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof RequestError && error.status === 401) {
        link.value = 'key'
        return
      }
      lose(error instanceof RequestError ? error.message : 'the router does not answer')
    }
    await new Promise(resolve => setTimeout(resolve, Math.min(5000, 250 * 2 ** attempt)))
  }
}

/** Applies the state; that of another run of the router replaces everything. */
function adopt(state: StateAnswer): void {
  if (hello.value !== undefined && hello.value.run !== state.hello.run) {
    notice.value = 'The router was restarted.'
    loseRuns(() => true)
    calls.value = []
    logLines.value = []
  }
  changes.value = []
  recordingUntil.value = 0
  applyState(state)
}

function lose(reason: string): void {
  if (link.value !== 'lost') lostAt.value = Date.now()
  link.value = 'lost'
  lostReason.value = reason
}

/** Reads server-sent events. Resolves when the stream ends. */
async function read(response: Response, signal: AbortSignal): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done || signal.aborted) return
    text += value
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      // The check: page and server are of one build.
      if (event.startsWith('data: ')) applyFrame(JSON.parse(event.slice(6)) as ConsoleFrame)
    }
  }
}
