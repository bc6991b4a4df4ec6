import type { Conversation } from './conversation.ts'
import type { PlayOptions } from './play.ts'
import { printShape } from './shape.ts'
import { type Adapted, type Speech, Talk, type Turn, turns } from './talk.ts'
import { type Expect, lastStep, metaOf, type Transcript } from './transcript.ts'

/**
 * Plays a conversation and resolves to its text with the expected side as it really was. Lines that
 * fit stay as they are, and in those that do not, the signs that do. A message that does not come
 * within `timeoutMs`, here one second by default, is left out; further messages are added behind the
 * lines they came after. Opens one connection and closes it.
 */
export async function rewrite(
  transcript: Transcript,
  open: () => Promise<Conversation>,
  options: PlayOptions = {},
): Promise<string> {
  const meta = metaOf(transcript)
  const talk = new Talk(await open(), meta, { timeoutMs: 1000, ...options })
  const text = new Rewriting(transcript.lines)
  try {
    for (const { says, expects } of turns(transcript.steps).flatMap(apart)) {
      for (const step of says) await talk.say(step)
      const came = await talk.upTo(expects.length)
      const more = await talk.rest(expects.at(-1) ?? says.at(-1) ?? lastStep(transcript))
      const adapted = talk.adapt(expects, [...came, ...more])
      if (adapted !== undefined) text.replace(says, expects, adapted)
    }
  } finally {
    await talk.close()
  }
  return text.toString()
}

/** Where nothing is written yet that must come, every line is a turn of its own. */
function apart(turn: Turn): readonly Turn[] {
  if (turn.expects.length > 0) return [turn]
  return turn.says.map(step => ({ says: [step], expects: [] }))
}

/** The lines of a transcript while some of them are replaced. */
class Rewriting {
  readonly #lines: readonly string[]
  /** What stands in the place of a line. */
  readonly #edits = new Map<number, readonly string[]>()

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  /** Puts what came where the expected lines were, or else behind what was said. */
  replace(says: readonly Speech[], expects: readonly Expect[], came: readonly Adapted[]): void {
    const written = came.flatMap(adapted => this.#write(adapted))
    for (const step of expects) {
      for (let at = 0; at < step.height; at++) this.#edits.set(step.line - 1 + at, [])
    }
    const [first] = expects
    const said = says.at(-1)
    if (first !== undefined) this.#edits.set(first.line - 1, written)
    else if (said !== undefined) {
      const end = said.line + said.height - 2
      this.#edits.set(end, [this.#lines[end] ?? '', ...written])
    }
  }

  toString(): string {
    return this.#lines.flatMap((line, at) => this.#edits.get(at) ?? [line]).join('\n')
  }

  #write({ old, shape, fits }: Adapted): readonly string[] {
    if (old !== undefined && fits) {
      return this.#lines.slice(old.line - 1, old.line - 1 + old.height)
    }
    return [`${old?.isUnordered ? '<~' : '<'} ${printShape(shape)}`]
  }
}
