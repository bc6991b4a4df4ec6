import { errorMessage } from '../util/text/error-message.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'
import { adapt } from './adapt.ts'
import type { Conversation } from './conversation.ts'
import { match, matchInAnyOrder, type Names } from './match.ts'
import { type ObjectShape, printShape, type Shape, scalar } from './shape.ts'
import { readJson } from './shape-reader.ts'
import {
  type ExpectMessage,
  type SendMessage,
  type SendText,
  TranscriptError,
  type TranscriptStep,
} from './transcript.ts'
import { wireText, withoutVersion, withVersion } from './wire-text.ts'

/** How a transcript is played. */
export interface PlayerOptions {
  /** The initial values of names: `{ revision: … }`. */
  readonly names?: Readonly<Record<string, string>>
  /** How long to wait for an expected message, in milliseconds. */
  readonly timeoutMs?: number
  /** The clock for the timeout; for tests. */
  readonly clock?: Clock
}

export type SendStep = SendMessage | SendText

/** Messages to send, and the messages that are expected then. */
export interface Turn {
  readonly says: readonly SendStep[]
  readonly expects: readonly ExpectMessage[]
}

/** Groups the steps of a transcript into turns. */
export function turns(steps: readonly TranscriptStep[]): readonly Turn[] {
  const all: { says: SendStep[]; expects: ExpectMessage[] }[] = []
  for (const step of steps) {
    let turn = all.at(-1)
    if (turn === undefined || (step.kind !== 'expect' && turn.expects.length > 0)) {
      turn = { says: [], expects: [] }
      all.push(turn)
    }
    if (step.kind === 'expect') turn.expects.push(step)
    else turn.says.push(step)
  }
  return all
}

/** Groups adjacent unordered messages into one block; every other message is a block of its own. */
export function blocks(expects: readonly ExpectMessage[]): readonly (readonly ExpectMessage[])[] {
  const all: ExpectMessage[][] = []
  for (const step of expects) {
    const block = all.at(-1)
    if (step.isUnordered && block?.[0]?.isUnordered) block.push(step)
    else all.push([step])
  }
  return all
}

/** A received message, in the form of the line that it replaces. */
export interface Adapted {
  readonly old: ExpectMessage | undefined
  readonly shape: Shape
  /** Whether the line matches already. */
  readonly fits: boolean
}

/** Plays a transcript over a connection, and keeps the values of its names. */
export class TranscriptPlayer {
  readonly #conversation: Conversation
  readonly #meta: ObjectShape | undefined
  readonly #timeoutMs: number
  readonly #clock: Clock
  #names: Names
  #markers = 0
  /** The pending read. */
  #asked: Promise<string> | undefined

  constructor(conversation: Conversation, meta: ObjectShape | undefined, options: PlayerOptions) {
    const { names = {}, timeoutMs = 10_000, clock = systemClock } = options
    this.#conversation = conversation
    this.#meta = meta
    this.#timeoutMs = timeoutMs
    this.#clock = clock
    this.#names = new Map(Object.entries(names).map(([name, value]) => [name, scalar(value)]))
  }

  async say(step: SendStep): Promise<void> {
    await this.#conversation.send(step.kind === 'say' ? this.#textOf(step) : step.text)
  }

  /**
   * Receives as many messages as the block has and compares them. Throws a TranscriptError if they
   * differ.
   */
  async expect(block: readonly ExpectMessage[]): Promise<void> {
    const came: Shape[] = []
    for (const step of block) came.push(await this.#next(step.line, printShape(step.shape)))
    const expected = block.map(step => withVersion(step.shape))
    const found = matchInAnyOrder(expected, came, this.#names)
    if (found === undefined) throw this.#difference(block[0]?.line ?? 0, expected, came)
    this.#names = found.names
  }

  /** Receives at most this many messages, until one times out or the connection closes. */
  async upTo(count: number): Promise<readonly Shape[]> {
    const came: Shape[] = []
    try {
      while (came.length < count) came.push(readJson(await this.#within()))
    } catch (error) {
      if (!(error instanceof Missing)) throw error
    }
    return came
  }

  /** Receives all messages before the response to one more request. */
  async rest(after: TranscriptStep): Promise<readonly Shape[]> {
    const id = `the end of the transcript ${++this.#markers}`
    const marker = readJson(`{"id":${JSON.stringify(id)},"method":"ping"}`)
    await this.#conversation.send(wireText(marker, this.#names, this.#meta))
    const came: Shape[] = []
    for (;;) {
      const shape = await this.#next(after.line, 'the answer to the request that marks the end')
      const found = shape.kind === 'object' ? shape.members.get('id') : undefined
      if (found?.kind === 'scalar' && found.value === id) return came
      came.push(shape)
    }
  }

  /** Adapts the expected lines to the received messages; returns undefined if they match. */
  adapt(expects: readonly ExpectMessage[], came: readonly Shape[]): readonly Adapted[] | undefined {
    if (this.#isAsExpected(expects, came)) return undefined
    // An unordered message belongs to the line it matches, wherever that line is.
    const fitting = new Map<Shape, ExpectMessage>()
    for (const step of expects.filter(({ isUnordered }) => isUnordered)) {
      const found = came.find(shape => !fitting.has(shape) && this.#fits(step, shape))
      if (found !== undefined) fitting.set(found, step)
    }
    const taken = new Set(fitting.values())
    const free = expects.filter(step => !taken.has(step))
    return came.map(shape => {
      const old = fitting.get(shape) ?? free.shift()
      const fits = old !== undefined && this.#fits(old, shape)
      const adapted = adapt(old && withVersion(old.shape), shape, this.#names)
      this.#names = adapted.names
      return { old, fits, shape: withoutVersion(adapted.shape) }
    })
  }

  async close(): Promise<void> {
    await this.#conversation.close()
  }

  /** Whether all messages match; if so, binds the names. */
  #isAsExpected(expects: readonly ExpectMessage[], came: readonly Shape[]): boolean {
    if (expects.length !== came.length) return false
    let names = this.#names
    let from = 0
    for (const block of blocks(expects)) {
      const values = came.slice(from, from + block.length)
      const shapes = block.map(step => withVersion(step.shape))
      const found = matchInAnyOrder(shapes, values, names)
      if (found === undefined) return false
      names = found.names
      from += block.length
    }
    this.#names = names
    return true
  }

  #fits(step: ExpectMessage, shape: Shape): boolean {
    return 'names' in match(withVersion(step.shape), shape, this.#names)
  }

  #textOf(step: SendMessage): string {
    try {
      return wireText(step.shape, this.#names, this.#meta)
    } catch (cause) {
      throw new TranscriptError(step.line, errorMessage(cause), { cause })
    }
  }

  async #next(line: number, wanted: string): Promise<Shape> {
    let text: string
    try {
      text = await this.#within()
    } catch (cause) {
      throw new TranscriptError(line, `${errorMessage(cause)}, expected ${wanted}`, { cause })
    }
    try {
      return readJson(text)
    } catch (cause) {
      throw new TranscriptError(line, `received text is not JSON: ${text}`, { cause })
    }
  }

  /** Receives the next text. Rejects with Missing on timeout, or if the connection closes first. */
  #within(): Promise<string> {
    this.#asked ??= this.#conversation.next()
    const asked = this.#asked
    return new Promise((resolve, reject) => {
      let isWaiting = true
      const timer = this.#clock.start(() => {
        isWaiting = false
        reject(new Missing(`nothing received within ${this.#timeoutMs} ms`))
      }, this.#timeoutMs)
      const settle = (act: () => void): void => {
        // A text that arrives after the timeout is left for the next read.
        if (!isWaiting) return
        this.#asked = undefined
        this.#clock.stop(timer)
        act()
      }
      asked.then(
        text => settle(() => resolve(text)),
        cause => settle(() => reject(new Missing('the connection closed', { cause }))),
      )
    })
  }

  #difference(line: number, expected: readonly Shape[], came: readonly Shape[]): TranscriptError {
    const texts = came.map(found => `\n  < ${printShape(withoutVersion(found))}`).join('')
    const [shape] = expected
    const [first] = came
    if (expected.length > 1 || shape === undefined || first === undefined) {
      return new TranscriptError(line, `the received messages do not match in any order:${texts}`)
    }
    const found = match(shape, first, this.#names)
    const { where, why } = 'mismatch' in found ? found.mismatch : { where: '', why: 'differs' }
    return new TranscriptError(line, `${where === '' ? 'the message' : where} ${why}${texts}`)
  }
}

/** An expected message that did not arrive. */
class Missing extends Error {}
