export { type ConnectOptions, connect } from './connect.ts'
export { ChannelError, type ChannelErrorCode } from './jsonrpc/channel.ts'
export { RpcError, type RpcErrorOptions } from './jsonrpc/error.ts'
export { Peer } from './jsonrpc/peer.ts'
export type { PeerOptions } from './jsonrpc/peer-options.ts'
export { type ListenOptions, listen } from './listen.ts'
export { fromWire, kindOf, toWire } from './mcp/error-wire.ts'
export {
  errorCategory,
  errorIs,
  errorRange,
  errorSeverity,
  errors,
  isKnownCode,
} from './mcp/errors.ts'
export { type Profile, type ProfileName, profile } from './mcp/profile.ts'
export type { Answers, Protocol, Protocols } from './protocol.ts'
export type { ChildCommand, ChildProcess } from './transport/child.ts'
export type { Listener } from './transport/listener.ts'
