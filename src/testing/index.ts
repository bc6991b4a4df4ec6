export { memoryPair } from '../transport/memory.ts'
export { type Conversation, converse } from './conversation.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type PlayOptions, play } from './play.ts'
export { rewrite } from './rewrite.ts'
export {
  provenBy,
  readTranscript,
  revisionsOf,
  type Setting,
  type Step,
  type Transcript,
  TranscriptError,
} from './transcript.ts'
