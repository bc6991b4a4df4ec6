export { memoryPair } from '../transport/memory.ts'
export { type Conversation, converse } from './conversation.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type PlayOptions, play } from './play.ts'
export { rewrite } from './rewrite.ts'
export {
  provenBy,
  readTranscript,
  type Transcript,
  TranscriptError,
  type TranscriptSetting,
  type TranscriptStep,
  transcriptRevisions,
} from './transcript.ts'
