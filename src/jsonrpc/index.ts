export type { Cancellation } from './cancellation.ts'
export {
  type Channel,
  ChannelError,
  type ChannelErrorCode,
  type Envelope,
  type Principal,
  type Sink,
} from './channel.ts'
export { type DecodeOptions, decode } from './decode.ts'
export {
  encode,
  encodeBatch,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
} from './encode.ts'
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
export { type IdLevel, idLevel, MAX_ID_60_BIT, MAX_SAFE_ID } from './ids.ts'
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
export type { BatchBuilder } from './outbound.ts'
export { Peer } from './peer.ts'
export type { PeerOptions } from './peer-options.ts'
export type { StrayReason } from './pending.ts'
export {
  batchSchema,
  errorSchema,
  messageSchema,
  notificationSchema,
  requestSchema,
  resultSchema,
} from './schema.ts'
