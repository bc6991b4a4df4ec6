import { type CallRecorded, type CallStarted, events } from '../../observe/events.ts'
import { isSecretName, redactText } from '../../observe/log/redact.ts'
import { limits } from '../../util/limits/limits.ts'
import { hideValues } from '../../util/text/hidden-values.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import type { RecordingAnswer } from '../wire.ts'

/** A call with its contents as JSON; a part that was too large is missing. */
interface Recording {
  readonly params: string | undefined
  readonly result: string | undefined
  readonly error: string | undefined
  readonly redacted: number
  readonly bytes: readonly [params: number, result: number]
}

/**
 * Records arguments and results of calls while a person wants it, for a while. Values under the names of secrets are
 * replaced before they are kept. While nothing is recorded, nothing is subscribed.
 */
export class Recorder {
  readonly #onChange: (isRecording: boolean) => void
  readonly #clock: Clock
  readonly #kept = new Map<CallStarted, Recording>()
  #bytes = 0
  #untilMs = 0
  #timer: Timer | undefined
  #end: (() => void) | undefined

  /** `onChange` is called when recording starts and ends. */
  constructor(onChange: (isRecording: boolean) => void, clock: Clock = systemClock) {
    this.#onChange = onChange
    this.#clock = clock
  }

  /** Milliseconds until the recording ends by itself; 0 while nothing is recorded. */
  get leftMs(): number {
    return this.#end === undefined ? 0 : Math.max(1, Math.round(this.#untilMs - this.#clock.now()))
  }

  /** How many calls are kept. */
  get size(): number {
    return this.#kept.size
  }

  /** Starts recording, or starts its time again. What was recorded before is forgotten. */
  start(): void {
    this.stop()
    this.#forgetAll()
    const ms = limits.consoleRecordMs.default
    this.#untilMs = this.#clock.now() + ms
    this.#timer = this.#clock.start(() => this.stop(), ms)
    this.#timer.unref()
    this.#end = events.callRecorded.subscribe(event => this.#add(event))
    this.#onChange(true)
  }

  /** Stops recording. What was recorded is kept until the next recording, or `close`. Idempotent. */
  stop(): void {
    if (this.#end === undefined) return
    this.#end()
    this.#end = undefined
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#onChange(false)
  }

  /** Returns the contents of the first recorded call that matches; undefined if none does. */
  find(isWanted: (call: CallStarted) => boolean): RecordingAnswer | undefined {
    for (const [call, { params, result, error, redacted, bytes }] of this.#kept) {
      if (!isWanted(call)) continue
      return {
        ...(params !== undefined && { params: JSON.parse(params) }),
        ...(result !== undefined && { result: JSON.parse(result) }),
        ...(error !== undefined && { error }),
        redacted,
        bytes,
      }
    }
    return undefined
  }

  /** Stops recording and forgets everything. */
  close(): void {
    this.stop()
    this.#forgetAll()
  }

  #add({ call, params, result, error }: CallRecorded): void {
    const given = redactedJson(params)
    const found = redactedJson(result)
    const recording: Recording = {
      params: given.text,
      result: found.text,
      error: error === undefined ? undefined : redactText(error),
      redacted: given.redacted + found.redacted,
      bytes: [given.bytes, found.bytes],
    }
    this.#kept.set(call, recording)
    this.#bytes += sizeOfRecording(recording)
    for (const [oldest, its] of this.#kept) {
      const isFull = this.#kept.size > limits.consoleRecordings.default
      if (!isFull && this.#bytes <= limits.consoleRecordingBytes.default) return
      this.#kept.delete(oldest)
      this.#bytes -= sizeOfRecording(its)
    }
  }

  #forgetAll(): void {
    this.#kept.clear()
    this.#bytes = 0
  }
}

function sizeOfRecording({ params = '', result = '' }: Recording): number {
  return params.length + result.length
}

/** Returns a value as JSON in which secrets are replaced; without the text if that is too large. */
function redactedJson(value: unknown): {
  readonly text: string | undefined
  readonly bytes: number
  readonly redacted: number
} {
  let redacted = 0
  const text = JSON.stringify(value, (name, member: unknown) => {
    if (name === '' || !isSecretName(name) || member === undefined || member === null) {
      return typeof member === 'string' ? hideValues(member) : member
    }
    redacted++
    return '[redacted]'
  })
  const bytes = Buffer.byteLength(text ?? '')
  const isKept = bytes <= limits.consoleRecordedBytes.default
  return { text: isKept ? text : undefined, bytes, redacted }
}
