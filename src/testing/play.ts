import type { Conversation } from './conversation.ts'
import { blocks, type PlayerOptions, TranscriptPlayer, turns } from './player.ts'
import { printShape } from './shape.ts'
import { lastStep, metaOf, type Transcript, TranscriptError } from './transcript.ts'

/**
 * Options of {@link play} and {@link rewrite}. The default timeout for an expected message is ten
 * seconds.
 */
export type PlayOptions = PlayerOptions

/**
 * Plays a transcript to a server and compares the messages it sends. Rejects with a TranscriptError at
 * the first difference. Opens one connection and closes it.
 *
 * At the end it sends a `ping`, whose response, even if it is an error, must be the next message: this
 * shows that the server has sent nothing else.
 */
export async function play(
  transcript: Transcript,
  open: () => Promise<Conversation>,
  options: PlayOptions = {},
): Promise<void> {
  const meta = metaOf(transcript)
  const talk = new TranscriptPlayer(await open(), meta, options)
  try {
    for (const { says, expects } of turns(transcript.steps)) {
      for (const step of says) await talk.say(step)
      for (const block of blocks(expects)) await talk.expect(block)
    }
    const [more] = await talk.rest(lastStep(transcript))
    if (more !== undefined) {
      throw new TranscriptError(0, `unexpected message at the end: ${printShape(more)}`)
    }
  } finally {
    await talk.close()
  }
}
