import { events } from '../../observe/events.ts'
import type { MetricRegistry } from '../../observe/metrics/registry.ts'
import type { Router } from '../../router/router.ts'
import { limits } from '../../util/limits/limits.ts'
import { randomToken } from '../../util/random.ts'
import { version } from '../../util/version.ts'
import type { CallRow, ConsoleActions, HelloFrame, ServerRow } from '../wire.ts'
import { callRow, type RowOptions } from './call-rows.ts'
import { CallFeed } from './calls.ts'
import { ChangeFeed } from './changes.ts'
import { FigureFeed } from './figures.ts'
import { fleetRows } from './fleet.ts'
import { LogFeed } from './logs.ts'
import { Recorder } from './recorder.ts'
import { Ring } from './ring.ts'

/** What the feeds are about. */
export interface FeedsOptions {
  readonly router: Router
  /** The metrics of the process; without them there are no figures. */
  readonly registry: MetricRegistry | undefined
  readonly actions: ConsoleActions
  /** Whether a viewer may record arguments and results. */
  readonly mayRecord: boolean
  /** Called when recording starts and ends. */
  readonly onRecording: (isRecording: boolean) => void
  readonly people: RowOptions['people']
}

/**
 * Everything that the console knows. Changes, failed calls, log lines and figures are kept at all times: the first
 * three are rare, and figures are read from counters once a second. Calls are collected only while a page shows them.
 */
export class Feeds {
  readonly changes: ChangeFeed
  readonly figures: FigureFeed | undefined
  readonly logs: LogFeed
  readonly calls: CallFeed
  readonly recorder: Recorder
  readonly #options: FeedsOptions
  readonly #failures = new Ring<CallRow>(limits.consoleFailures.default)
  readonly #endFailures: () => void
  readonly #run = randomToken()
  readonly #startedAt = Date.now()
  #seq = 0

  constructor(options: FeedsOptions) {
    this.#options = options
    const now = (): number => Date.now()
    const rowOptions = { people: options.people, origin: performance.timeOrigin }
    this.changes = new ChangeFeed(now)
    this.logs = new LogFeed(now)
    this.figures = options.registry && new FigureFeed(options.registry, now)
    const nextSeq = (): number => ++this.#seq
    this.calls = new CallFeed(rowOptions, nextSeq)
    this.recorder = new Recorder(options.onRecording)
    this.#endFailures = events.callFailed.subscribe(call => {
      this.#failures.push(callRow(nextSeq(), call, undefined, rowOptions))
    })
  }

  /** Returns the first frame of a stream. */
  hello(): HelloFrame {
    return {
      event: 'hello',
      version,
      run: this.#run,
      startedAt: this.#startedAt,
      actions: this.#options.actions,
      mayRecord: this.#options.mayRecord && this.#options.actions === 'all',
    }
  }

  /** Returns the newest failed calls, the oldest first. */
  failures(): readonly CallRow[] {
    return this.#failures.list()
  }

  /** Returns the servers; `withOutput` also reads their error output into the log. */
  servers(withOutput = false): readonly ServerRow[] {
    const { router } = this.#options
    const all = router.servers()
    if (withOutput) this.logs.read(all)
    return fleetRows(router, all)
  }

  /** Unsubscribes from all events. Idempotent. */
  close(): void {
    this.#endFailures()
    this.calls.stop()
    this.recorder.close()
    this.changes.close()
    this.logs.close()
    this.figures?.close()
  }
}
