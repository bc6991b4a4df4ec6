import type { Channel, Envelope } from '../jsonrpc/channel.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { compose, type Exchange, type Handler, type Middleware } from '../jsonrpc/handler.ts'
import type { RpcNotification, RpcRequest } from '../jsonrpc/message.ts'
import type { Attachment, Endpoint } from '../mcp/endpoint.ts'
import { type Profile, profile } from '../mcp/profile.ts'
import { type Revision, revisionNamed, revisions } from '../mcp/revisions.ts'
import { limits } from '../util/limits.ts'
import { Answers } from './answers.ts'
import { createCursors } from './cursor.ts'
import type { Registration } from './features.ts'
import type { ServerInfo, ServerOptions } from './options.ts'
import type { PromptCode, PromptDefinition } from './prompts.ts'
import type { ResourceCode, ResourceDefinition } from './resources.ts'
import { createSealer } from './seal.ts'
import { Session } from './session.ts'
import { Subscriptions } from './subscriptions.ts'
import type { ToolCode, ToolDefinition } from './tools.ts'
import type { PromptHandler, ResourceHandler, TemplateHandler, ToolHandler } from './typing.ts'

/**
 * Tools, resources and prompts, defined once and served to any number of connections, over any
 * transport and in every revision, at the same time.
 */
export class Server implements Endpoint {
  /** Answers one self-contained message, without a connection. */
  readonly handle: Handler
  readonly #options: ServerOptions
  readonly #profile: Profile
  readonly #answers: Answers
  readonly #subscriptions = new Subscriptions()
  readonly #middlewares: Middleware[] = []
  readonly #sessions = new Set<Session>()

  constructor(info: ServerInfo, options: ServerOptions = {}) {
    this.#options = options
    this.#profile = profile(options.profile)
    this.#answers = new Answers(info, {
      profile: this.#profile,
      revisions: served(options.revisions),
      pageSize: options.pageSize ?? limits.pageSize.default,
      cache: options.cache,
      sealer: createSealer({ keys: options.keys }),
      cursors: createCursors({ keys: options.keys }),
      subscriptions: this.#subscriptions,
      onError: options.onError ?? printError,
    })
    this.handle = this.#wrapped(undefined)
  }

  /** Registers a tool. The handle that comes back updates, disables or removes it. */
  tool<D extends ToolDefinition>(
    name: string,
    definition: D,
    code: ToolHandler<D>,
  ): Registration<ToolDefinition> {
    // The check: the handler's types were compared with the schemas here; its input is checked later.
    return this.#answers.tools.register(name, definition, code as ToolCode)
  }

  /** Registers one resource under its address. */
  resource(
    name: string,
    uri: string,
    definition: ResourceDefinition,
    read: ResourceHandler,
  ): Registration<ResourceDefinition> {
    return this.#answers.resources.register(name, uri, definition, (_, context) => read(context))
  }

  /** Registers a family of resources under a template such as `db://users/{id}`. */
  resourceTemplate<T extends string>(
    name: string,
    uriTemplate: T,
    definition: ResourceDefinition,
    read: TemplateHandler<T>,
  ): Registration<ResourceDefinition> {
    // The check: the variables that match are those the type was made of.
    const code = read as unknown as ResourceCode
    return this.#answers.resources.registerTemplate(name, uriTemplate, definition, code)
  }

  /** Registers a prompt. */
  prompt<D extends PromptDefinition>(
    name: string,
    definition: D,
    code: PromptHandler<D>,
  ): Registration<PromptDefinition> {
    return this.#answers.prompts.register(name, definition, code as PromptCode)
  }

  /** Puts a middleware around every request and notification, batches included; the first is outermost. */
  use(middleware: Middleware): this {
    this.#middlewares.push(middleware)
    return this
  }

  /** Tells whoever has subscribed to a resource that it has changed. */
  updated(uri: string): void {
    this.#subscriptions.announce({ type: 'resource', uri })
  }

  /** Takes over a channel for as long as it lives. */
  attach(channel: Channel, envelope: Envelope = {}): Attachment {
    const session = new Session(channel, envelope, {
      peer: { onError: this.#options.onError ?? printError, ...this.#options.peer },
      takesBatches: caller =>
        this.#profile.batches === 'auto'
          ? (caller?.revision.batches ?? false)
          : this.#profile.batches === 'always',
      handlerFor: opened => this.#wrapped(opened),
      onClosing: closing => {
        this.#sessions.delete(closing)
        this.#subscriptions.remove(closing)
      },
    })
    this.#sessions.add(session)
    this.#subscriptions.add(session)
    return session
  }

  /** Ends every connection in good order. */
  async close(options?: { readonly drainMs?: number }): Promise<void> {
    await Promise.all(Array.from(this.#sessions, session => session.close(options)))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The handler of one connection, with whatever middleware there is by the time it is called. */
  #wrapped(session: Session | undefined): Handler {
    const core: Handler = (message, exchange: Exchange) =>
      this.#answers.answer(message, exchange, session)
    let count = 0
    let handler = core
    return (message, exchange) => {
      if (count !== this.#middlewares.length) {
        count = this.#middlewares.length
        handler = compose(core, this.#middlewares)
      }
      return handler(message, exchange)
    }
  }
}

function served(names: readonly string[] | undefined): readonly Revision[] {
  if (names === undefined) return revisions
  for (const name of names) {
    if (revisionNamed(name) === undefined) throw new TypeError(`there is no revision "${name}"`)
  }
  return revisions.filter(revision => names.includes(revision.name))
}

function printError(error: unknown, message?: RpcRequest | RpcNotification): void {
  if (error instanceof RpcError) return
  console.error(`trunkline: ${message?.method ?? 'a reply'} failed:`, error)
}
