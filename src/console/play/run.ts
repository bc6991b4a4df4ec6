import { ChannelError } from '../../jsonrpc/channel.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import { limits } from '../../util/limits/limits.ts'
import { randomToken } from '../../util/random.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import type { ProgressRow, RunError, RunUpdate } from '../wire-play.ts'

/** What a call resolves to. */
export interface RunResult extends Pick<RunUpdate, 'mismatch' | 'isChecked'> {
  readonly result: unknown
}

/** How a call is made. */
export interface RunOptions {
  /** How long to wait for the result, or for progress. */
  readonly timeoutMs: number
  /** Sends the request. It must stop when the signal is aborted. */
  readonly send: (
    signal: AbortSignal,
    onProgress: (progress: ProgressRow) => void,
  ) => Promise<RunResult>
  /** Called when the call has ended. */
  readonly onEnd: () => void
  readonly clock?: Clock
}

/** One call of the playground: it ends with a result, an error, or when nothing happens for too long. */
export class PlayRun {
  readonly id = randomToken()
  readonly #timeoutMs: number
  readonly #clock: Clock
  readonly #stop = new AbortController()
  readonly #startedMs: number
  #timer: Timer | undefined
  #isSuspended = false
  #update: RunUpdate | undefined
  #isEnded = false

  constructor({ timeoutMs, send, onEnd, clock = systemClock }: RunOptions) {
    this.#timeoutMs = timeoutMs
    this.#clock = clock
    this.#startedMs = clock.now()
    this.#arm()
    const end = (outcome: Partial<RunUpdate>): void => {
      if (this.#isEnded) return
      this.#isEnded = true
      this.#disarm()
      this.#update = { run: this.id, ms: this.#elapsedMs(), ...outcome }
      onEnd()
    }
    const progress = ({ progress, total, message }: ProgressRow): void => {
      if (this.#isEnded) return
      this.#update = { run: this.id, progress: { progress, total, message } }
      this.#arm()
    }
    send(this.#stop.signal, progress).then(
      found => end(shown(found)),
      (error: unknown) => end({ error: runError(error) }),
    )
  }

  /** Whether the call has ended. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Returns what is new since the last time; undefined if nothing is. */
  take(): RunUpdate | undefined {
    const update = this.#update
    this.#update = undefined
    return update
  }

  /** Stops or restarts the time limit: a person may take longer to answer than a server. */
  suspend(isSuspended: boolean): void {
    this.#isSuspended = isSuspended
    if (isSuspended) this.#disarm()
    else if (!this.#isEnded) this.#arm()
  }

  /** Cancels the call. Has no effect when it has ended. */
  cancel(reason: string): void {
    this.#disarm()
    this.#stop.abort(new Error(reason))
  }

  #arm(): void {
    this.#disarm()
    if (this.#isSuspended) return
    this.#timer = this.#clock.start(() => {
      this.cancel(`there was neither a result nor progress for ${this.#timeoutMs / 1000} s`)
    }, this.#timeoutMs)
    this.#timer.unref()
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }

  #elapsedMs(): number {
    return Math.round((this.#clock.now() - this.#startedMs) * 10) / 10
  }
}

/** Leaves out a result that is too large to be shown. */
function shown({ result, ...rest }: RunResult): Partial<RunUpdate> {
  const size = Buffer.byteLength(JSON.stringify(result) ?? '')
  return size > limits.consoleResultBytes.default ? { tooLarge: size } : { result, ...rest }
}

function runError(error: unknown): RunError {
  const message = errorMessage(error)
  if (error instanceof RpcError) {
    const { code, kind, data } = error
    return {
      message,
      code,
      ...(kind !== undefined && { kind }),
      ...(data !== undefined && { data }),
    }
  }
  return error instanceof ChannelError ? { message, kind: error.code } : { message }
}
