import type { Conversation } from './conversation.ts'
import { printShape } from './shape.ts'
import { blocks, Talk, type TalkOptions, turns } from './talk.ts'
import { lastStep, metaOf, type Transcript, TranscriptError } from './transcript.ts'

/** How to play a conversation. By default a message that must come has ten seconds to do so. */
export type PlayOptions = TalkOptions

/**
 * Plays a conversation to a server and compares what comes back. Rejects with a TranscriptError at
 * the first difference. Opens one connection and closes it.
 *
 * At the end it sends one more request, `ping`, whose answer, be it an error, must be the next thing
 * that comes: so nothing more has come than the conversation says.
 */
export async function play(
  transcript: Transcript,
  open: () => Promise<Conversation>,
  options: PlayOptions = {},
): Promise<void> {
  const meta = metaOf(transcript)
  const talk = new Talk(await open(), meta, options)
  try {
    for (const { says, expects } of turns(transcript.steps)) {
      for (const step of says) await talk.say(step)
      for (const block of blocks(expects)) await talk.expect(block)
    }
    const [more] = await talk.rest(lastStep(transcript))
    if (more !== undefined) {
      throw new TranscriptError(0, `the conversation is over, but more came: ${printShape(more)}`)
    }
  } finally {
    await talk.close()
  }
}
