export { memoryPair } from '../transport/memory.ts'
export type { Clock, Timer } from '../util/time/clock.ts'
export { backplaneContract } from './backplane/contract.ts'
export type { BackplaneCase, BackplaneHarness } from './backplane/harness.ts'
export { type Conversation, converse } from './conversation.ts'
export { type DevIssuer, devIssuer } from './dev-issuer/dev-issuer.ts'
export type {
  DevClient,
  DevIssuerOptions,
  DevUser,
  IdentityProviderKeys,
} from './dev-issuer/options.ts'
export type { DevTokenOptions } from './dev-issuer/tokens/access-tokens.ts'
export { type TokenFault, tokenFaults } from './dev-issuer/tokens/token-faults.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type PlayOptions, play } from './play.ts'
export type { PlayerOptions } from './player.ts'
export { rewrite } from './rewrite.ts'
export type { ArrayShape, ObjectShape, Scalar, Shape } from './shape.ts'
export {
  type ExpectMessage,
  provenBy,
  readTranscript,
  type SendMessage,
  type SendText,
  type StepPosition,
  type Transcript,
  TranscriptError,
  type TranscriptSetting,
  type TranscriptStep,
  transcriptRevisions,
} from './transcript.ts'
