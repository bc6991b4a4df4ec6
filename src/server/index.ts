export type { Caller } from '../mcp/caller.ts'
export {
  audio,
  type Binary,
  type Contents,
  embed,
  image,
  link,
  type PromptReply,
  text,
} from '../mcp/content.ts'
export type { Attachment, Endpoint } from '../mcp/endpoint.ts'
export { SchemaError } from '../mcp/schema.ts'
export { withJsonSchema } from '../mcp/schema-conversion.ts'
export type { Schema } from '../mcp/standard-schema.ts'
export { type InputRequired, inputRequired } from './ask.ts'
export type { ServerCache } from './caching.ts'
export type { Completer, CompletionContext } from './completer.ts'
export type { Context } from './context.ts'
export {
  Cancelled,
  Declined,
  type Elicit,
  type ElicitAnswer,
  type ElicitQuestion,
  type FormQuestion,
  type UrlQuestion,
} from './elicit.ts'
export type { MethodHandler } from './extending.ts'
export type { Registration } from './features.ts'
export type { ServerInfo, ServerOptions } from './options.ts'
export type { PromptDefinition } from './prompts.ts'
export { type Rate, type RateLimitOptions, rateLimit } from './rate-limit.ts'
export type { ResourceDefinition } from './resources.ts'
export { Server } from './server.ts'
export type { Session } from './session.ts'
export type { TaskHandle } from './task-scope.ts'
export type { TaskError, TaskOwner, TaskRecord, TaskStore } from './task-store.ts'
export type { TaskOptions } from './tasks.ts'
export type { ToolDefinition } from './tools.ts'
export type { PromptHandler, ResourceHandler, TemplateHandler, ToolHandler } from './typing.ts'
