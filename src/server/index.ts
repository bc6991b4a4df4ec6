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
} from '../mcp/content/content.ts'
export type { Attachment, Endpoint } from '../mcp/endpoint.ts'
export type { ListKind } from '../mcp/list-changes.ts'
export type { RevisionName } from '../mcp/revisions/revisions.ts'
export { withJsonSchema } from '../mcp/schema/convert.ts'
export { SchemaError } from '../mcp/schema/schema.ts'
export type { Schema } from '../mcp/schema/standard-schema.ts'
export type { Context } from './context.ts'
export type { Around, Next, NextOptions } from './core/around.ts'
export type { ServerCache } from './core/cache-hints.ts'
export type { MethodHandler } from './core/custom-methods.ts'
export type { ServerEvents, ServerListener, SubscriptionEvent } from './core/events.ts'
export type { LocalCallOptions } from './core/local-call.ts'
export type { ContextFactory } from './core/request-scope.ts'
export type { Completer, CompletionContext } from './features/completion.ts'
export type { PromptDefinition } from './features/prompts.ts'
export type { Registration } from './features/registry.ts'
export type { ResourceDefinition, TemplateDefinition } from './features/resources/definition.ts'
export type { ResourcePage } from './features/resources/listed-resources.ts'
export { type ParsedSkill, parseSkill } from './features/skills/parse-skill.ts'
export type { SkillContent, SkillDefinition } from './features/skills/skill-entry.ts'
export type { StructuredText, ToolDefinition, ToolText } from './features/tools/definition.ts'
export type {
  PromptHandler,
  ResourceContext,
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
export { isInputPending } from './input/input-run.ts'
export { type Rate, type RateLimitOptions, rateLimit } from './middleware/rate-limit.ts'
export type { Mount, MountOptions } from './mount.ts'
export type { ServerInfo, ServerOptions } from './options.ts'
export type { RequestContext, RequestDetails } from './request-context.ts'
export { Server, type ToolRegistration } from './server.ts'
export type { Session } from './session.ts'
export type { TaskOptions } from './tasks/registry.ts'
export type { CurrentTask } from './tasks/scope.ts'
export type { TaskError, TaskOwner, TaskRecord, TaskStore } from './tasks/store.ts'
