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
export type { RevisionName } from '../mcp/revisions/revisions.ts'
export { withJsonSchema } from '../mcp/schema/convert.ts'
export { SchemaError } from '../mcp/schema/schema.ts'
export type { Schema } from '../mcp/schema/standard-schema.ts'
export type { Context } from './context.ts'
export type { ServerCache } from './core/cache-hints.ts'
export type { MethodHandler } from './core/custom-methods.ts'
export type { Session } from './core/session.ts'
export type { Completer, CompletionContext } from './features/completion.ts'
export { type ParsedSkill, parseSkill } from './features/parse-skill.ts'
export type { PromptDefinition } from './features/prompts.ts'
export type { Registration } from './features/registry.ts'
export type { ResourceDefinition } from './features/resources.ts'
export type { SkillContent, SkillDefinition } from './features/skill-entry.ts'
export type { ToolDefinition } from './features/tools.ts'
export type {
  PromptHandler,
  ResourceHandler,
  TemplateHandler,
  ToolHandler,
} from './handler-types.ts'
export {
  Cancelled,
  Declined,
  type Elicit,
  type ElicitAnswer,
  type ElicitFormRequest,
  type ElicitRequest,
  type ElicitUrlRequest,
} from './input/elicit.ts'
export { type InputRequired, inputRequired } from './input/input-required.ts'
export { type Rate, type RateLimitOptions, rateLimit } from './middleware/rate-limit.ts'
export type { ServerInfo, ServerOptions } from './options.ts'
export { Server } from './server.ts'
export type { TaskOptions } from './tasks/registry.ts'
export type { CurrentTask } from './tasks/scope.ts'
export type { TaskError, TaskOwner, TaskRecord, TaskStore } from './tasks/store.ts'
