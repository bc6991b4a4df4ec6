import { errorWords } from '../util/error-words.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'
import { adapt } from './adapt.ts'
import type { Conversation } from './conversation.ts'
import { match, matchInAnyOrder, type Names } from './match.ts'
import { type ObjectShape, printShape, type Shape, scalar } from './shape.ts'
import { readJson } from './shape-reader.ts'
import { type Expect, type Say, type SayExactly, type Step, TranscriptError } from './transcript.ts'
import { wireText, withoutVersion, withVersion } from './wire-text.ts'

export interface TalkOptions {
  /** What names mean from the beginning: `{ revision: … }`. */
  readonly names?: Readonly<Record<string, string>>
  /** How long to wait for a message that must come. */
  readonly timeoutMs?: number
  readonly clock?: Clock
}

export type Speech = Say | SayExactly

/** What is said up to the next thing that must come, and what must come then. */
export interface Turn {
  readonly says: readonly Speech[]
  readonly expects: readonly Expect[]
}

/** The steps of a conversation, turn by turn. */
export function turns(steps: readonly Step[]): readonly Turn[] {
  const all: { says: Speech[]; expects: Expect[] }[] = []
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

/** Those that may come in any order together, every other one by itself. */
export function blocks(expects: readonly Expect[]): readonly (readonly Expect[])[] {
  const all: Expect[][] = []
  for (const step of expects) {
    const block = all.at(-1)
    if (step.isUnordered && block?.[0]?.isUnordered) block.push(step)
    else all.push([step])
  }
  return all
}

/** A message that came, as the line it takes the place of would say it. */
export interface Adapted {
  readonly old: Expect | undefined
  readonly shape: Shape
  /** Whether the line says so already. */
  readonly fits: boolean
}

/** A conversation being played: the connection, and what the names mean by now. */
export class Talk {
  readonly #conversation: Conversation
  readonly #meta: ObjectShape | undefined
  readonly #timeoutMs: number
  readonly #clock: Clock
  #names: Names
  #markers = 0
  /** A text that was asked for and has not come. */
  #asked: Promise<string> | undefined

  constructor(conversation: Conversation, meta: ObjectShape | undefined, options: TalkOptions) {
    const { names = {}, timeoutMs = 10_000, clock = systemClock } = options
    this.#conversation = conversation
    this.#meta = meta
    this.#timeoutMs = timeoutMs
    this.#clock = clock
    this.#names = new Map(Object.entries(names).map(([name, value]) => [name, scalar(value)]))
  }

  async say(step: Speech): Promise<void> {
    await this.#conversation.send(step.kind === 'say' ? this.#textOf(step) : step.text)
  }

  /** Takes as many messages as the block has and compares. Throws a TranscriptError if they differ. */
  async expect(block: readonly Expect[]): Promise<void> {
    const came: Shape[] = []
    for (const step of block) came.push(await this.#next(step.line, printShape(step.shape)))
    const expected = block.map(step => withVersion(step.shape))
    const found = matchInAnyOrder(expected, came, this.#names)
    if (found === undefined) throw this.#difference(block[0]?.line ?? 0, expected, came)
    this.#names = found.names
  }

  /** The messages that come, at most so many, until one takes too long or the end is there. */
  async upTo(count: number): Promise<readonly Shape[]> {
    const came: Shape[] = []
    try {
      while (came.length < count) came.push(readJson(await this.#within()))
    } catch (error) {
      if (!(error instanceof Missing)) throw error
    }
    return came
  }

  /** Everything that comes before the answer to one more request. */
  async rest(after: Step): Promise<readonly Shape[]> {
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

  /**
   * What came, with as much as possible of the lines that said what should come; undefined if that
   * is just what came.
   */
  adapt(expects: readonly Expect[], came: readonly Shape[]): readonly Adapted[] | undefined {
    if (this.#isAsExpected(expects, came)) return undefined
    // In any order means that a message belongs to the line it fits, wherever that stands.
    const fitting = new Map<Shape, Expect>()
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

  /** If all of it is as it has to be, the names mean what was met. */
  #isAsExpected(expects: readonly Expect[], came: readonly Shape[]): boolean {
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

  #fits(step: Expect, shape: Shape): boolean {
    return 'names' in match(withVersion(step.shape), shape, this.#names)
  }

  #textOf(step: Say): string {
    try {
      return wireText(step.shape, this.#names, this.#meta)
    } catch (cause) {
      throw new TranscriptError(step.line, errorWords(cause), { cause })
    }
  }

  async #next(line: number, wanted: string): Promise<Shape> {
    let text: string
    try {
      text = await this.#within()
    } catch (cause) {
      throw new TranscriptError(line, `${errorWords(cause)}, expected ${wanted}`, { cause })
    }
    try {
      return readJson(text)
    } catch (cause) {
      throw new TranscriptError(line, `what came is no JSON: ${text}`, { cause })
    }
  }

  /** The next text. Rejects with Missing if it takes too long, or the connection ends first. */
  #within(): Promise<string> {
    this.#asked ??= this.#conversation.next()
    const asked = this.#asked
    return new Promise((resolve, reject) => {
      let isWaiting = true
      const timer = this.#clock.start(() => {
        isWaiting = false
        reject(new Missing(`nothing came within ${this.#timeoutMs} ms`))
      }, this.#timeoutMs)
      const settle = (act: () => void): void => {
        // One that comes after it was given up is for whoever asks next.
        if (!isWaiting) return
        this.#asked = undefined
        this.#clock.stop(timer)
        act()
      }
      asked.then(
        text => settle(() => resolve(text)),
        cause => settle(() => reject(new Missing('the connection ended', { cause }))),
      )
    })
  }

  #difference(line: number, expected: readonly Shape[], came: readonly Shape[]): TranscriptError {
    const texts = came.map(found => `\n  < ${printShape(withoutVersion(found))}`).join('')
    const [shape] = expected
    const [first] = came
    if (expected.length > 1 || shape === undefined || first === undefined) {
      return new TranscriptError(line, `these do not fit, in whatever order:${texts}`)
    }
    const found = match(shape, first, this.#names)
    const { where, why } = 'mismatch' in found ? found.mismatch : { where: '', why: 'differs' }
    return new TranscriptError(line, `${where === '' ? 'the message' : where} ${why}${texts}`)
  }
}

/** Says that a message did not come. */
class Missing extends Error {}
