import type { Channel, Envelope, Principal } from '../jsonrpc/channel.ts'
import type { Middleware } from '../jsonrpc/handler.ts'
import type { ToolAnswer } from '../mcp/content/tool-answer.ts'
import type {
  Attachment,
  Endpoint,
  EndpointHandler,
  PersonalLists,
  SessionAttachment,
  SessionHooks,
} from '../mcp/endpoint.ts'
import type { ListKind } from '../mcp/list-changes.ts'
import type { Profile } from '../mcp/profile.ts'
import type { Revision } from '../mcp/revisions/revisions.ts'
import type { Schema } from '../mcp/schema/standard-schema.ts'
import type { ChangeReceiver, ChangeSharing } from '../mcp/shared-changes.ts'
import type { Members } from '../mcp/types/base.ts'
import type { ClientMethod } from '../mcp/types/requests.ts'
import { checkOptions } from '../util/options.ts'
import { Traffic } from '../util/traffic.ts'
import type { AnyAround, Around } from './core/around.ts'
import type { MethodHandler } from './core/custom-methods.ts'
import { McpEndpoint } from './core/endpoint.ts'
import type { ServerEvents, ServerListener } from './core/events.ts'
import type { LocalCallOptions } from './core/local-call.ts'
import { LocalFeatures } from './features/local-features.ts'
import type { CheckedPrompt, PromptCode, PromptDefinition } from './features/prompts.ts'
import type { Registration } from './features/registry.ts'
import type {
  ReadResource,
  ResourceCode,
  ResourceDefinition,
  TemplateDefinition,
} from './features/resources/definition.ts'
import type { SkillContent, SkillDefinition } from './features/skills/skill-entry.ts'
import type {
  CheckedTool,
  StoredTool,
  ToolCode,
  ToolDefinition,
} from './features/tools/definition.ts'
import type {
  ArgumentsHandler,
  ResourceHandler,
  SchemaHandler,
  TemplateHandler,
} from './handler-types.ts'
import { type Mount, type MountOptions, mountServer } from './mount.ts'
import { serverTable } from './option-table.ts'
import type { ServerInfo, ServerOptions } from './options.ts'
import { personalLists } from './subscriptions/personal-lists.ts'

/**
 * An MCP server: tools, resources, prompts and skills, defined once and served to any number of connections, over
 * any transport and in every protocol revision, at the same time. `Env` is the type of what the option
 * `context` returns, which handlers get as `ctx.env`.
 */
export class Server<Env = unknown> implements Endpoint {
  /** Answers one self-contained message, without a connection. */
  readonly handle: EndpointHandler
  /** The choices that the protocol leaves open, such as error codes. */
  readonly profile: Profile
  /** How much was received and sent at the addresses where `listen` or `serve` serves it. */
  readonly traffic = new Traffic()
  readonly #endpoint: McpEndpoint<LocalFeatures>

  /** Throws a TypeError for a server without a name, and for unknown or invalid options. */
  constructor(info: ServerInfo, options: ServerOptions<Env> = {}) {
    checkOptions(options, serverTable)
    this.#endpoint = new McpEndpoint(info, host => new LocalFeatures(host), options)
    this.handle = this.#endpoint.handle
    this.profile = this.#endpoint.profile
  }

  /** The revisions that it serves, oldest first. */
  get revisions(): readonly Revision[] {
    return this.#endpoint.revisions
  }

  /** Aborted when closing begins: ends timers and watchers that belong to the server. */
  get signal(): AbortSignal {
    return this.#endpoint.signal
  }

  /** @internal The lists that differ between callers, for a router of this process. */
  get personalLists(): PersonalLists {
    const { features, subscriptions } = this.#endpoint
    return personalLists(subscriptions, kind => features.isPersonal(kind))
  }

  /** Registers a tool. The returned handle updates, disables or removes it. */
  tool<const I extends Schema = never, const O extends Schema = never, R = unknown>(
    name: string,
    definition: CheckedTool<I, O, Env>,
    code: SchemaHandler<I, O, R, Env>,
  ): ToolRegistration<I, O, Env> {
    // The check: the handler's types are compared with the schemas here; its input is checked later.
    return this.#endpoint.features.tools.register(
      name,
      definition as StoredTool,
      code as ToolCode,
    ) as unknown as ToolRegistration<I, O, Env>
  }

  /** Registers one resource under its URI. */
  resource(
    name: string,
    uri: string,
    definition: ResourceDefinition<Env>,
    read: ResourceHandler<Env>,
  ): Registration<ResourceDefinition<Env>, ResourceHandler<Env>> {
    // The check: a request that reads a resource has a URI, and the environment of this server.
    return this.#endpoint.features.resources.register(name, uri, definition, read as ReadResource)
  }

  /** Registers the resources under a URI template such as `db://users/{id}`. */
  resourceTemplate<T extends string>(
    name: string,
    uriTemplate: T,
    definition: TemplateDefinition<Env, T>,
    read: TemplateHandler<T, Env>,
  ): Registration<TemplateDefinition<Env, T>, TemplateHandler<T, Env>> {
    // The check: requests have the environment of this server, and matches the variables of the template.
    return this.#endpoint.features.resources.registerTemplate(
      name,
      uriTemplate,
      definition as TemplateDefinition,
      read as unknown as ResourceCode,
    ) as unknown as Registration<TemplateDefinition<Env, T>, TemplateHandler<T, Env>>
  }

  /** Registers a prompt. */
  prompt<const A extends Schema = never>(
    name: string,
    definition: CheckedPrompt<A, Env>,
    code: ArgumentsHandler<A, Env>,
  ): Registration<PromptDefinition<Env, A>, ArgumentsHandler<A, Env>> {
    // The check: the handler's types are compared with the schema here; its arguments are checked later.
    return this.#endpoint.features.prompts.register(
      name,
      definition as PromptDefinition,
      code as PromptCode,
    ) as unknown as Registration<PromptDefinition<Env, A>, ArgumentsHandler<A, Env>>
  }

  /**
   * Registers a skill, under a name such as `refunds` or a path such as `acme/billing/refunds`. Its files
   * become resources: `SKILL.md`, of the definition and the instructions, and the supporting files. A
   * function as `instructions` is called for every read. Clients find skills in the revisions with
   * extensions; in the others they see the resources.
   */
  skill(
    path: string,
    definition: SkillDefinition,
    instructions: SkillContent,
  ): Registration<SkillDefinition, SkillContent> {
    return this.#endpoint.features.skills.register(path, definition, instructions)
  }

  /**
   * Shows the tools, prompts, resources and skills of another server of this process in this one, now and
   * whenever they change. Names of tools and prompts begin with `prefix`; URIs stay. Requests run through
   * the middlewares of both servers, and handlers get the same caller; `ctx.env` comes from the `context` of
   * the other server, or from this one where it has none. Throws a TypeError for a name or URI that is taken.
   */
  mount<E>(other: Server<E>, options: MountOptions = {}): Mount {
    return mountServer(this.#endpoint, other.#endpoint, options)
  }

  /**
   * Adds a middleware around every request and notification, those in batches included; the first is
   * outermost. It is called once for each connection, and once for all stateless HTTP requests together:
   * what it keeps in its closure may be shared by all callers. `around` has typed params and the caller.
   */
  use(middleware: Middleware): this {
    this.#endpoint.use(middleware)
    return this
  }

  /**
   * Adds a middleware around the requests of one method, such as `tools/call`; the first is outermost. It is
   * called once per request, with the caller and its environment, and answers with what it returns.
   */
  around<M extends ClientMethod>(method: M, middleware: Around<M, Env>): this {
    // The check: requests of this method have these params, and its handlers return such results.
    this.#endpoint.around(method, middleware as unknown as AnyAround)
    return this
  }

  /**
   * Adds a method that the protocol does not have, such as `x/status`, for requests and notifications in
   * every revision. Throws a TypeError for a name that is taken.
   */
  method(name: string, handler: MethodHandler<Env>): this {
    // The check: requests have the environment of this server.
    this.#endpoint.method(name, handler as MethodHandler)
    return this
  }

  /** Listens to an event of sessions or subscriptions. Returns a function that ends this. */
  on<K extends keyof ServerEvents>(event: K, listener: ServerListener<K>): () => void {
    return this.#endpoint.events.add(event, listener)
  }

  /**
   * Calls one tool without a client, for tests and for use in this process: its input is checked, its
   * middlewares of `around` run, and its result is what a client would get. Rejects with an RpcError for an
   * unknown tool or invalid arguments.
   */
  call(name: string, args: Members = {}, options: LocalCallOptions<Env> = {}): Promise<ToolAnswer> {
    return this.#endpoint.call(name, args, options)
  }

  /**
   * Notifies the client of a URL elicitation that the interaction on the web page is complete, where its
   * revision has that notification. Ignores an unknown or forgotten id.
   */
  completeElicitation(elicitationId: string): void {
    this.#endpoint.completeElicitation(elicitationId)
  }

  /** Notifies the subscribers of a resource that it has changed. */
  updated(uri: string): void {
    this.#endpoint.subscriptions.publish({ type: 'resource', uri })
  }

  /**
   * Notifies clients that a list has changed because `visible` has another answer: all clients, or those of
   * one principal. Registering and removing entries notifies by itself.
   */
  changed(list: ListKind, { principal }: { readonly principal?: Principal | string } = {}): void {
    const id = typeof principal === 'object' ? principal.id : principal
    this.#endpoint.subscriptions.publish({ type: list, ...(id !== undefined && { principal: id }) })
  }

  /** Takes over a channel until it closes. */
  attach(channel: Channel, envelope?: Envelope): Attachment {
    return this.#endpoint.attach(channel, envelope)
  }

  /** @internal Takes over a channel whose session another process can continue, or continues one. */
  attachSession(channel: Channel, envelope: Envelope, hooks: SessionHooks): SessionAttachment {
    return this.#endpoint.attachSession(channel, envelope, hooks)
  }

  /** @internal Exchanges notices of changes with other processes that serve the same server. */
  shareChanges(sharing: ChangeSharing): ChangeReceiver {
    return this.#endpoint.shareChanges(sharing)
  }

  /** Cancels the running tasks and closes every connection gracefully. */
  close(options?: { readonly drainMs?: number }): Promise<void> {
    return this.#endpoint.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** The handle of a registered tool with the schemas `I` and `O`. */
export interface ToolRegistration<I extends Schema, O extends Schema, Env = unknown>
  extends Omit<Registration<ToolDefinition<Env>>, 'update'> {
  /**
   * Changes members of its definition, and notifies subscribers. A handler, which new schemas need, replaces
   * the current one.
   */
  update<const U extends Schema = never, const V extends Schema = never>(
    changes: CheckedTool<U, V, Env>,
    ...code: UpdatedHandler<I, O, U, V, Env>
  ): void
}

/** The handler of a tool whose schemas `I` and `O` are replaced by `U` and `V`, where these are not `never`. */
export type UpdatedHandler<I, O, U, V, Env = unknown> = [U | V] extends [never]
  ? [code?: SchemaHandler<I, O, unknown, Env>]
  : [code: SchemaHandler<[U] extends [never] ? I : U, [V] extends [never] ? O : V, unknown, Env>]
