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

/** The revision without a handshake, in which a client's input comes by asking again. */
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

/** Where a server is: a program to be started, or an address over HTTP. */
export type Place = Program | { readonly url: string }

/** What a server may ask the user: a form, or to visit an address. */
export interface Question {
  readonly mode: 'form' | 'url'
  readonly message: string
  readonly requestedSchema?: unknown
  readonly url?: string
}

/** What the user makes of a question. */
export interface QuestionAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>>
}

/** How the client answers a server: always the same way, by what is asked. */
export interface Answers {
  elicit(question: Question): QuestionAnswer
  /** The model's words for the last message's words. */
  sample(words: string): string
  readonly model: string
  readonly roots: readonly { readonly uri: string; readonly name?: string }[]
}

/** Who sends, or refuses. */
export type Side = 'client' | 'server'

/** How a driver connects. */
export interface DriverOptions {
  readonly answers: Answers
  /** The revision to ask for, and the only one to be content with. */
  readonly revision: Revision
  /** Told of every message on the pipe, in order, as the package's transport has it. */
  readonly onMessage?: (from: Side, message: unknown) => void
}

/** What a server says about itself when a client connects. */
export interface ServerFacts {
  readonly name: string | undefined
  readonly version: string | undefined
  readonly instructions: string | undefined
  readonly revision: string | undefined
  readonly capabilities: unknown
}

/** How far a call has come. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What goes with a call. */
export interface CallOptions {
  readonly onProgress?: (progress: Progress) => void
  readonly signal?: AbortSignal
}

/** What a tool gives: the blocks as they came, and whether it failed. */
export interface ToolResult {
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly structured?: unknown
  readonly isError: boolean
}

/** One entry of a list, as it came. */
export type Named = Readonly<Record<string, unknown>> & { readonly name: string }

/** One message of a server's log. */
export interface Log {
  readonly level: string
  readonly logger?: string
  readonly data: unknown
}

/** What to be told of: the lists by name, resources by address. */
export interface Interest {
  readonly tools?: boolean
  readonly resources?: readonly string[]
}

/** Something of the server's has changed. */
export type Change =
  | { readonly kind: 'tools' }
  | { readonly kind: 'resource'; readonly uri: string }

/** Changes asked for, in whichever way the revision has. */
export interface Watch {
  /** The next change, or the oldest that was not taken yet. */
  next(): Promise<Change>
  /** How many have come that were not taken yet. */
  readonly waiting: number
  /** Ends it; after that nothing more comes. */
  close(): Promise<void>
}

/** What an argument to be completed belongs to. */
export type Reference =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string }

/** How an argument may go on. */
export interface Completion {
  readonly values: readonly string[]
  readonly total?: number
  readonly hasMore?: boolean
}

/**
 * One client connected to one server, whoever made the client. A call that is refused rejects with
 * `Refused`; anything else that is thrown is a fault of the driver or of the package behind it.
 */
export interface McpDriver {
  readonly server: ServerFacts
  /** The lists, all pages of them. */
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
  /** Wants logs from this level on, for the calls that follow. */
  setLogLevel(level: 'debug' | 'info' | 'warning'): Promise<void>
  /** The logs that came so far. */
  readonly logs: readonly Log[]
  watch(interest: Interest): Promise<Watch>
  ping(): Promise<unknown>
  /** Any request, for what has no method of its own here. */
  request(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Ends the connection and the program. */
  close(): Promise<void>
}

/** Connects a client to a server, starting it if it is a program. Rejects with `Refused` where the two do not agree. */
export type ConnectDriver = (place: Place, options: DriverOptions) => Promise<McpDriver>

/** A call was answered with an error, or the client's package would not even send it. */
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

/** The changes a driver has heard of, for those who watch. */
export class Changes {
  readonly #watches = new Set<(change: Change) => void>()

  tell(change: Change): void {
    for (const take of this.#watches) take(change)
  }

  /** Starts to collect what is of interest; `end` runs when the watch is closed. */
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
