export type { Client } from './client/client.ts'
export type { ClientOptions } from './client/options.ts'
export {
  type ConnectOptions,
  connect,
  type GroupClient,
  type RpcConnectOptions,
  type ServerGroup,
  type UrlTarget,
} from './connect.ts'
export { ChannelError, type ChannelErrorCode } from './jsonrpc/channel.ts'
export { RpcError, type RpcErrorOptions } from './jsonrpc/error.ts'
export type { Exchange, Handler, Middleware } from './jsonrpc/handler.ts'
export type { PeerOptions } from './jsonrpc/peer/options.ts'
export { Peer } from './jsonrpc/peer/peer.ts'
export { type ListenOptions, listen, type RpcListenOptions } from './listen.ts'
export { audio, embed, image, link, text } from './mcp/content/content.ts'
export type { Endpoint } from './mcp/endpoint.ts'
export {
  errorCategory,
  errorIs,
  errorRange,
  errorSeverity,
  errors,
  isKnownCode,
} from './mcp/errors/constructors.ts'
export { fromWire, kindOf, toWire } from './mcp/errors/wire.ts'
export { type Profile, type ProfileName, profile } from './mcp/profile.ts'
export type { RevisionName } from './mcp/revisions/revisions.ts'
export { withJsonSchema } from './mcp/schema/convert.ts'
export type { Answers, Protocol, Protocols } from './protocol.ts'
export { type ServeOptions, type Serving, serve } from './serve.ts'
export type { Context } from './server/context.ts'
export { parseSkill } from './server/features/skills/parse-skill.ts'
export { Cancelled, Declined } from './server/input/elicit.ts'
export { inputRequired } from './server/input/input-required.ts'
export { isInputPending } from './server/input/input-run.ts'
export type { ServerInfo, ServerOptions } from './server/options.ts'
export { Server } from './server/server.ts'
export type { Listener } from './transport/listener.ts'
export type { ChildCommand, ChildProcess } from './transport/process/child.ts'
export type { TlsOptions } from './transport/tls/certificate.ts'
