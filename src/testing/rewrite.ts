import type { Conversation } from './conversation.ts'
import type { PlayOptions } from './play.ts'
import { type Adapted, type SendStep, TranscriptPlayer, type Turn, turns } from './player.ts'
import { printShape } from './shape.ts'
import { type ExpectMessage, lastStep, metaOf, type Transcript } from './transcript.ts'

/**
 * Plays a transcript and resolves to its text with the messages that the server really sent. Lines that
 * match stay as they are; in other lines, placeholders that match stay. An expected message that does
 * not arrive within `timeoutMs`, here one second by default, is removed; additional messages are
 * inserted after the lines they followed. Opens one connection and closes it.
 */
export async function rewrite(
  transcript: Transcript,
  open: () => Promise<Conversation>,
  options: PlayOptions = {},
): Promise<string> {
  const meta = metaOf(transcript)
  const talk = new TranscriptPlayer(await open(), meta, { timeoutMs: 1000, ...options })
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

/** Splits a turn without expected messages into one turn per line. */
function apart(turn: Turn): readonly Turn[] {
  if (turn.expects.length > 0) return [turn]
  return turn.says.map(step => ({ says: [step], expects: [] }))
}

/** The lines of a transcript, some of them replaced. */
class Rewriting {
  readonly #lines: readonly string[]
  /** The replacement of each line, by its index. */
  readonly #edits = new Map<number, readonly string[]>()

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  /** Replaces the expected lines by the received messages, or inserts these after the sent lines. */
  replace(
    says: readonly SendStep[],
    expects: readonly ExpectMessage[],
    came: readonly Adapted[],
  ): void {
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
