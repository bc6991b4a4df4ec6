import { type Clock, systemClock, type Timer } from './clock.ts'
import { Deadlines } from './deadline.ts'

/** The machine's clock, with timers that let the process end: what they would tidy up ends with it. */
const background: Clock = {
  now: () => systemClock.now(),
  start: (callback, delayMs) => {
    const timer = systemClock.start(callback, delayMs)
    timer.unref()
    return { timer, ref() {}, unref() {} } satisfies BackgroundTimer
  },
  // The check: a Timer given to stop() came from start() of the same clock.
  stop: timer => systemClock.stop((timer as BackgroundTimer).timer),
}

interface BackgroundTimer extends Timer {
  readonly timer: Timer
}

/** Nothing here is urgent, and few ticks are quickly looked through. */
const TICK_MS = 250

const backgroundDeadlines = new Deadlines(background, TICK_MS)

/** Deadlines of what is tidied up after a while, which never keep a process alive. */
export function housekeeping(clock: Clock | undefined): Deadlines {
  return clock === undefined ? backgroundDeadlines : new Deadlines(clock)
}
