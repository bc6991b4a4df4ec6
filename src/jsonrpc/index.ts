export type { Cancellation } from './cancellation.ts'
export {
  type Channel,
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorOptions,
  type Envelope,
  type Principal,
  type Sink,
  type TransportInfo,
} from './channel.ts'
export { type DecodeOptions, decode } from './codec/decode.ts'
export type { MessageSizes } from './codec/decode-rules.ts'
export {
  encode,
  encodeBatch,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
} from './codec/encode.ts'
export type { RawCalls, RawMember, RawMemberKind, RawShape } from './codec/raw-json.ts'
export {
  codes,
  internalError,
  invalidParams,
  methodNotFound,
  RpcError,
  type RpcErrorOptions,
} from './error.ts'
export {
  type CallOptions,
  type Calls,
  compose,
  type Exchange,
  type Handler,
  type Method,
  type Middleware,
  methods,
} from './handler.ts'
export type {
  Batch,
  Decoded,
  Entry,
  ErrorObject,
  Id,
  Malformed,
  Message,
  Params,
  Reason,
  RpcFailure,
  RpcNotification,
  RpcRequest,
  RpcResult,
} from './message.ts'
export { type IdLevel, idLevel, MAX_ID_60_BIT, MAX_SAFE_ID } from './peer/id-counter.ts'
export type { CloseOptions, PeerOptions } from './peer/options.ts'
export type { AllOf, BatchBuilder, OutboundOptions } from './peer/outbound.ts'
export { Peer } from './peer/peer.ts'
export type { ReplyHandler, StrayReason } from './peer/pending.ts'
export {
  batchSchema,
  errorSchema,
  messageSchema,
  notificationSchema,
  requestSchema,
  resultSchema,
} from './schema.ts'
