/** The revisions, oldest first. The last one has no sessions. */
export const revisions = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
] as const

/** The name of a revision. */
export type Revision = (typeof revisions)[number]

/** The revision without a handshake, in which a client sends input by retrying the request. */
export const stateless: Revision = '2026-07-28'

/** Whether one revision is older than another. */
export function isBefore(one: Revision, other: Revision): boolean {
  return revisions.indexOf(one) < revisions.indexOf(other)
}

/** A program that serves on its stdio. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
}

/** Where a server is: a program to start, or an HTTP address. */
export type Place = Program | { readonly url: string }

/** An elicitation of a server: a form, or a URL to visit. */
export interface Elicitation {
  readonly mode: 'form' | 'url'
  readonly message: string
  readonly requestedSchema?: unknown
  readonly url?: string
}

/** The response of the user to an elicitation. */
export interface ElicitationResult {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>>
}

/** The handlers for server requests; their results depend on the request alone. */
export interface Answers {
  elicit(elicitation: Elicitation): ElicitationResult
  /** The text of the model for the text of the last message. */
  sample(words: string): string
  readonly model: string
  readonly roots: readonly { readonly uri: string; readonly name?: string }[]
}

/** The side that sends or refuses. */
export type Side = 'client' | 'server'

/** Options to connect a driver. */
export interface DriverOptions {
  readonly answers: Answers
  /** The revision to request, and the only one to accept. */
  readonly revision: Revision
  /** Receives every message on the pipe, in order, as the transport of the package has it. */
  readonly onMessage?: (from: Side, message: unknown) => void
}

/** What a server reports about itself when a client connects. */
export interface ServerFacts {
  readonly name: string | undefined
  readonly version: string | undefined
  readonly instructions: string | undefined
  readonly revision: string | undefined
  readonly capabilities: unknown
}

/** The progress of a call. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Options of a call. */
export interface CallOptions {
  readonly onProgress?: (progress: Progress) => void
  readonly signal?: AbortSignal
}

/** The result of a tool: the content blocks as received, and whether it failed. */
export interface ToolResult {
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly structured?: unknown
  readonly isError: boolean
}

/** One entry of a list, as received. */
export type Named = Readonly<Record<string, unknown>> & { readonly name: string }

/** One log message of a server. */
export interface Log {
  readonly level: string
  readonly logger?: string
  readonly data: unknown
}

/** What to watch: lists by name, resources by URI. */
export interface Interest {
  readonly tools?: boolean
  readonly resources?: readonly string[]
}

/** A change on the server. */
export type Change =
  | { readonly kind: 'tools' }
  | { readonly kind: 'resource'; readonly uri: string }

/** A subscription to changes, by the mechanism of the revision. */
export interface Watch {
  /** The next change, or the oldest one not taken yet. */
  next(): Promise<Change>
  /** The number of changes not taken yet. */
  readonly waiting: number
  /** Ends the subscription; no more changes arrive. */
  close(): Promise<void>
}

/** What an argument to be completed belongs to. */
export type Reference =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string }

/** The completions of an argument. */
export interface Completion {
  readonly values: readonly string[]
  readonly total?: number
  readonly hasMore?: boolean
}

/**
 * One client connected to one server, in terms common to all packages. A refused call rejects with
 * `Refused`; any other error is a fault of the driver or of the package behind it.
 */
export interface McpDriver {
  readonly server: ServerFacts
  /** The lists, with all pages. */
  listTools(): Promise<readonly Named[]>
  listResources(): Promise<readonly Named[]>
  listResourceTemplates(): Promise<readonly Named[]>
  listPrompts(): Promise<readonly Named[]>
  callTool(name: string, args?: object, options?: CallOptions): Promise<ToolResult>
  readResource(uri: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  getPrompt(name: string, args?: Readonly<Record<string, string>>): Promise<readonly unknown[]>
  complete(
    ref: Reference,
    argument: { readonly name: string; readonly value: string },
    known?: Readonly<Record<string, string>>,
  ): Promise<Completion>
  /** Requests logs from this level on, for the calls that follow. */
  setLogLevel(level: 'debug' | 'info' | 'warning'): Promise<void>
  /** The logs received so far. */
  readonly logs: readonly Log[]
  watch(interest: Interest): Promise<Watch>
  ping(): Promise<unknown>
  /** Any request, for methods without a member here. */
  request(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Closes the connection and stops the program. */
  close(): Promise<void>
}

/** Connects a client to a server, starting a program if needed. Rejects with `Refused` if they disagree. */
export type ConnectDriver = (place: Place, options: DriverOptions) => Promise<McpDriver>

/** A call was answered with an error, or the client refused to send it. */
export class Refused extends Error {
  readonly by: Side
  readonly code: number | string

  constructor(by: Side, code: number | string, cause: Error) {
    super(`refused by the ${by} with ${code}: ${cause.message}`, { cause })
    this.name = 'Refused'
    this.by = by
    this.code = code
  }
}

/** The changes that a driver has received, distributed to its subscriptions. */
export class Changes {
  readonly #watches = new Set<(change: Change) => void>()

  tell(change: Change): void {
    for (const take of this.#watches) take(change)
  }

  /** Starts to collect the changes of interest; `end` runs when the subscription is closed. */
  watch(interest: Interest, end: () => Promise<void>): Watch {
    const came: Change[] = []
    let arrived = (): void => {}
    const take = (change: Change): void => {
      const wanted =
        change.kind === 'tools' ? interest.tools : interest.resources?.includes(change.uri)
      if (wanted !== true) return
      came.push(change)
      arrived()
    }
    this.#watches.add(take)
    return {
      async next() {
        for (;;) {
          const change = came.shift()
          if (change !== undefined) return change
          await new Promise<void>(resolve => {
            arrived = resolve
          })
        }
      },
      get waiting() {
        return came.length
      },
      close: async () => {
        await end()
        this.#watches.delete(take)
      },
    }
  }
}
