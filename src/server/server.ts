import type { Channel, Envelope } from '../jsonrpc/channel.ts'
import type { Handler, Middleware } from '../jsonrpc/handler.ts'
import type { Attachment, Endpoint } from '../mcp/endpoint.ts'
import type { Profile } from '../mcp/profile.ts'
import type { Revision } from '../mcp/revisions/revisions.ts'
import { checkOptions } from '../util/options.ts'
import { Traffic } from '../util/traffic.ts'
import type { MethodHandler } from './core/custom-methods.ts'
import { Front } from './core/endpoint.ts'
import { OwnOffer } from './features/local-features.ts'
import type { PromptCode, PromptDefinition } from './features/prompts.ts'
import type { Registration } from './features/registry.ts'
import type { ResourceCode, ResourceDefinition } from './features/resources.ts'
import type { ToolCode, ToolDefinition } from './features/tools.ts'
import type {
  PromptHandler,
  ResourceHandler,
  TemplateHandler,
  ToolHandler,
} from './handler-types.ts'
import { serverTable } from './option-table.ts'
import type { ServerInfo, ServerOptions } from './options.ts'
import { checkRegistration } from './validate.ts'

/**
 * Tools, resources and prompts, defined once and served to any number of connections, over any
 * transport and in every revision, at the same time.
 */
export class Server implements Endpoint {
  /** Answers one self-contained message, without a connection. */
  readonly handle: Handler
  readonly profile: Profile
  /** How much has come and gone at the addresses where it is served by `listen` or `serve`. */
  readonly traffic = new Traffic()
  readonly #front: Front<OwnOffer>

  /** Throws a TypeError for a server without a name, and for options that do not exist or mean nothing. */
  constructor(info: ServerInfo, options: ServerOptions = {}) {
    checkOptions(options, serverTable)
    this.#front = new Front(info, host => new OwnOffer(host), options)
    this.handle = this.#front.handle
    this.profile = this.#front.profile
  }

  /** The revisions it serves, oldest first. */
  get revisions(): readonly Revision[] {
    return this.#front.revisions
  }

  /** Registers a tool. The handle that comes back updates, disables or removes it. */
  tool<const D extends ToolDefinition>(
    name: string,
    definition: D,
    code: ToolHandler<D>,
  ): Registration<ToolDefinition> {
    checkRegistration(`tool "${name}"`, definition, code)
    // The check: the handler's types were compared with the schemas here; its input is checked later.
    return this.#front.offer.tools.register(name, definition, code as ToolCode)
  }

  /** Registers one resource under its address. */
  resource(
    name: string,
    uri: string,
    definition: ResourceDefinition,
    read: ResourceHandler,
  ): Registration<ResourceDefinition> {
    checkRegistration(`resource "${name}"`, definition, read)
    return this.#front.offer.resources.register(name, uri, definition, (_, context) =>
      read(context),
    )
  }

  /** Registers a family of resources under a template such as `db://users/{id}`. */
  resourceTemplate<T extends string>(
    name: string,
    uriTemplate: T,
    definition: ResourceDefinition,
    read: TemplateHandler<T>,
  ): Registration<ResourceDefinition> {
    checkRegistration(`resource template "${name}"`, definition, read)
    // The check: the variables that match are those the type was made of.
    const code = read as unknown as ResourceCode
    return this.#front.offer.resources.registerTemplate(name, uriTemplate, definition, code)
  }

  /** Registers a prompt. */
  prompt<const D extends PromptDefinition>(
    name: string,
    definition: D,
    code: PromptHandler<D>,
  ): Registration<PromptDefinition> {
    checkRegistration(`prompt "${name}"`, definition, code)
    return this.#front.offer.prompts.register(name, definition, code as PromptCode)
  }

  /**
   * Puts a middleware around every request and notification, batches included; the first is outermost.
   * It is called once for each connection: what all of them share stands outside of it.
   */
  use(middleware: Middleware): this {
    this.#front.use(middleware)
    return this
  }

  /**
   * Answers a method that the protocol does not have, such as `x/status`, and takes notifications of
   * that name, in every revision. Throws a TypeError for a name that is taken.
   */
  method(name: string, handler: MethodHandler): this {
    this.#front.method(name, handler)
    return this
  }

  /**
   * Tells the client that was asked to open a web page that the matter there is settled, where its
   * revision has a word for it. Does nothing for an id of which that is not, or no longer, known.
   */
  elicited(elicitationId: string): void {
    this.#front.elicited(elicitationId)
  }

  /** Tells whoever has subscribed to a resource that it has changed. */
  updated(uri: string): void {
    this.#front.subscriptions.announce({ type: 'resource', uri })
  }

  /** Takes over a channel for as long as it lives. */
  attach(channel: Channel, envelope?: Envelope): Attachment {
    return this.#front.attach(channel, envelope)
  }

  /** Cancels the tasks that run and ends every connection in good order. */
  close(options?: { readonly drainMs?: number }): Promise<void> {
    return this.#front.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
