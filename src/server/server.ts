import type { Channel, Envelope } from '../jsonrpc/channel.ts'
import type { Middleware } from '../jsonrpc/handler.ts'
import type { Attachment, Endpoint, EndpointHandler } from '../mcp/endpoint.ts'
import type { Profile } from '../mcp/profile.ts'
import type { Revision } from '../mcp/revisions/revisions.ts'
import { checkOptions } from '../util/options.ts'
import { Traffic } from '../util/traffic.ts'
import type { MethodHandler } from './core/custom-methods.ts'
import { McpEndpoint } from './core/endpoint.ts'
import { LocalFeatures } from './features/local-features.ts'
import type { PromptCode, PromptDefinition } from './features/prompts.ts'
import type { Registration } from './features/registry.ts'
import type { ResourceCode, ResourceDefinition } from './features/resources.ts'
import type { SkillContent, SkillDefinition } from './features/skill-entry.ts'
import type { ToolCode, ToolDefinition } from './features/tools.ts'
import type {
  PromptHandler,
  ResourceHandler,
  TemplateHandler,
  ToolHandler,
} from './handler-types.ts'
import { promptTable, resourceTable, serverTable, skillTable, toolTable } from './option-table.ts'
import type { ServerInfo, ServerOptions } from './options.ts'
import { checkDefinition, checkRegistration } from './validate.ts'

/**
 * An MCP server: tools, resources, prompts and skills, defined once and served to any number of connections, over
 * any transport and in every protocol revision, at the same time.
 */
export class Server implements Endpoint {
  /** Answers one self-contained message, without a connection. */
  readonly handle: EndpointHandler
  /** The choices that the protocol leaves open, such as error codes. */
  readonly profile: Profile
  /** How much was received and sent at the addresses where `listen` or `serve` serves it. */
  readonly traffic = new Traffic()
  readonly #endpoint: McpEndpoint<LocalFeatures>

  /** Throws a TypeError for a server without a name, and for unknown or invalid options. */
  constructor(info: ServerInfo, options: ServerOptions = {}) {
    checkOptions(options, serverTable)
    this.#endpoint = new McpEndpoint(info, host => new LocalFeatures(host), options)
    this.handle = this.#endpoint.handle
    this.profile = this.#endpoint.profile
  }

  /** The revisions that it serves, oldest first. */
  get revisions(): readonly Revision[] {
    return this.#endpoint.revisions
  }

  /** Registers a tool. The returned handle updates, disables or removes it. */
  tool<const D extends ToolDefinition, R = unknown>(
    name: string,
    definition: D,
    code: ToolHandler<D, R>,
  ): Registration<ToolDefinition> {
    checkRegistration(`tool "${name}"`, definition, code, toolTable)
    // The check: the handler's types were compared with the schemas here; its input is checked later.
    return this.#endpoint.features.tools.register(name, definition, code as ToolCode)
  }

  /** Registers one resource under its URI. */
  resource(
    name: string,
    uri: string,
    definition: ResourceDefinition,
    read: ResourceHandler,
  ): Registration<ResourceDefinition> {
    checkRegistration(`resource "${name}"`, definition, read, resourceTable)
    return this.#endpoint.features.resources.register(name, uri, definition, (_, context) =>
      read(context),
    )
  }

  /** Registers the resources under a URI template such as `db://users/{id}`. */
  resourceTemplate<T extends string>(
    name: string,
    uriTemplate: T,
    definition: ResourceDefinition,
    read: TemplateHandler<T>,
  ): Registration<ResourceDefinition> {
    checkRegistration(`resource template "${name}"`, definition, read, resourceTable)
    // The check: the variables of a match are those that the type was made of.
    const code = read as unknown as ResourceCode
    return this.#endpoint.features.resources.registerTemplate(name, uriTemplate, definition, code)
  }

  /** Registers a prompt. */
  prompt<const D extends PromptDefinition>(
    name: string,
    definition: D,
    code: PromptHandler<D>,
  ): Registration<PromptDefinition> {
    checkRegistration(`prompt "${name}"`, definition, code, promptTable)
    return this.#endpoint.features.prompts.register(name, definition, code as PromptCode)
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
  ): Registration<SkillDefinition> {
    checkDefinition(`skill "${path}"`, definition, skillTable)
    return this.#endpoint.features.skills.register(path, definition, instructions)
  }

  /**
   * Adds a middleware around every request and notification, those in batches included; the first is
   * outermost. It is called once for each connection: state that all connections share must be outside
   * of it.
   */
  use(middleware: Middleware): this {
    this.#endpoint.use(middleware)
    return this
  }

  /**
   * Adds a method that the protocol does not have, such as `x/status`, for requests and notifications in
   * every revision. Throws a TypeError for a name that is taken.
   */
  method(name: string, handler: MethodHandler): this {
    this.#endpoint.method(name, handler)
    return this
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

  /** Takes over a channel until it closes. */
  attach(channel: Channel, envelope?: Envelope): Attachment {
    return this.#endpoint.attach(channel, envelope)
  }

  /** Cancels the running tasks and closes every connection gracefully. */
  close(options?: { readonly drainMs?: number }): Promise<void> {
    return this.#endpoint.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
