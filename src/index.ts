export type { Client } from './client/client.ts'
export type { ClientOptions } from './client/options.ts'
export {
  type ConnectOptions,
  type ConnectOptionsBy,
  type ConnectTargets,
  connect,
  type GroupClient,
  type RpcConnectOptions,
  type ServerGroup,
  type UrlTarget,
} from './connect.ts'
export type { ConnectAuth, DialOptions } from './connect-options.ts'
export {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorOptions,
  type Principal,
} from './jsonrpc/channel.ts'
export { RpcError, type RpcErrorOptions } from './jsonrpc/error.ts'
export type { Exchange, Handler, Middleware } from './jsonrpc/handler.ts'
export type { PeerOptions } from './jsonrpc/peer/options.ts'
export { Peer } from './jsonrpc/peer/peer.ts'
export {
  type ListenOptions,
  type ListenOptionsBy,
  listen,
  type RpcListenOptions,
} from './listen.ts'
export type { Caller } from './mcp/caller.ts'
export { audio, embed, image, link, text } from './mcp/content/content.ts'
export type { ToolAnswer } from './mcp/content/tool-answer.ts'
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
export type { Infer, InferInput, Schema } from './mcp/schema/standard-schema.ts'
export type { Icon, JsonSchema, LogLevel } from './mcp/types/base.ts'
export type { Content } from './mcp/types/content.ts'
export type { GetPromptResult, Prompt, PromptMessage } from './mcp/types/prompts.ts'
export type { Resource, ResourceTemplate } from './mcp/types/resources.ts'
export type { Root } from './mcp/types/roots.ts'
export type { CallToolResult, Tool, ToolAnnotations } from './mcp/types/tools.ts'
export type { Answers, Protocol, Protocols, RpcOptions, WireOptions } from './protocol.ts'
export { type ServeOptions, type Serving, serve } from './serve.ts'
export type { ProcessEnvironment } from './serve-address.ts'
export type { Context } from './server/context.ts'
export type { PromptDefinition } from './server/features/prompts.ts'
export type { Registration } from './server/features/registry.ts'
export type {
  ResourceDefinition,
  TemplateDefinition,
} from './server/features/resources/definition.ts'
export { parseSkill } from './server/features/skills/parse-skill.ts'
export type { ToolDefinition } from './server/features/tools/definition.ts'
export { Cancelled, Declined } from './server/input/elicit.ts'
export { inputRequired } from './server/input/input-required.ts'
export { isInputPending } from './server/input/input-run.ts'
export type { ServerInfo, ServerOptions } from './server/options.ts'
export { Server } from './server/server.ts'
export type { Session } from './server/session.ts'
export type { Listener } from './transport/listener.ts'
export type { ChildCommand, ChildProcess } from './transport/process/child.ts'
export type { TlsOptions } from './transport/tls/certificate.ts'
export type { KeyRing, SealingKeys } from './util/crypto/keys.ts'
export type { FramingName } from './wire/frame.ts'
