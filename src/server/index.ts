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
export type { Attachment, Endpoint, EndpointHandler } from '../mcp/endpoint.ts'
export type { ListKind } from '../mcp/list-changes.ts'
export type { RevisionName } from '../mcp/revisions/revisions.ts'
export { withJsonSchema } from '../mcp/schema/convert.ts'
export { SchemaError } from '../mcp/schema/schema.ts'
export type { Infer, InferInput, Schema, StandardSchema } from '../mcp/schema/standard-schema.ts'
export type { KeyRing, SealingKeys } from '../util/crypto/keys.ts'
export type { Context } from './context.ts'
export type { Around, Next, NextOptions } from './core/around.ts'
export type { ServerCache } from './core/cache-hints.ts'
export type { MethodHandler } from './core/custom-methods.ts'
export type { ServerEvents, ServerListener, SubscriptionEvent } from './core/events.ts'
export type { LocalCallOptions } from './core/local-call.ts'
export type { ContextFactory } from './core/request-scope.ts'
export type { AccessRule } from './features/access.ts'
export type { Completer, Completers, CompletionContext } from './features/completion.ts'
export type { FaultyDefinition } from './features/definition-members.ts'
export type { ArgumentName, CheckedPrompt, PromptDefinition } from './features/prompts.ts'
export type { Registration } from './features/registry.ts'
export type {
  ResourceDefinition,
  ResourceDefinitionMembers,
  TemplateDefinition,
} from './features/resources/definition.ts'
export type { ResourcePage } from './features/resources/listed-resources.ts'
export { type ParsedSkill, parseSkill } from './features/skills/parse-skill.ts'
export type { SkillContent, SkillDefinition } from './features/skills/skill-entry.ts'
export type {
  CheckedTool,
  StructuredText,
  ToolDefinition,
  ToolText,
} from './features/tools/definition.ts'
export type {
  ArgumentsHandler,
  PromptHandler,
  ResourceContext,
  ResourceHandler,
  SchemaHandler,
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
  type ElicitRequestMembers,
  type ElicitUrlRequest,
} from './input/elicit.ts'
export { type InputRequired, inputRequired } from './input/input-required.ts'
export { isInputPending } from './input/input-run.ts'
export { type Rate, type RateLimitOptions, rateLimit } from './middleware/rate-limit.ts'
export type { Mount, MountOptions } from './mount.ts'
export type { ServerInfo, ServerOptions } from './options.ts'
export type { RequestContext, RequestDetails } from './request-context.ts'
export { Server, type ToolRegistration, type UpdatedHandler } from './server.ts'
export type { Session } from './session.ts'
export type { MemoryTaskStoreOptions } from './tasks/memory-store.ts'
export type { TaskOptions } from './tasks/registry.ts'
export type { CurrentTask, ServerRequestOptions, ServerRequestTask } from './tasks/scope.ts'
export type { TaskError, TaskOwner, TaskRecord, TaskStore } from './tasks/store.ts'
