// The types of the playground, which the page shares with the console. The page imports these types and nothing else of
// this folder.

/** How far a call is. */
export interface ProgressRow {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** Why a call of the playground failed. */
export interface RunError {
  readonly message: string
  /** The code of JSON-RPC, if the router answered with an error. */
  readonly code?: number | undefined
  /** The name of the error in the error catalog, or of the failure of the connection. */
  readonly kind?: string | undefined
  readonly data?: unknown
}

/** What is new about a call of the playground. */
export interface RunUpdate {
  /** The id of the call, as `POST api/play/:page/run` returned it. */
  readonly run: string
  readonly progress?: ProgressRow | undefined
  /** Set when the call has ended, with or without a result. */
  readonly ms?: number | undefined
  /** The result as the router sent it. */
  readonly result?: unknown
  readonly error?: RunError | undefined
  /** The size of a result that is too large to be shown, in bytes; `result` is missing then. */
  readonly tooLarge?: number | undefined
  /** Why the structured content does not match the output schema; undefined if it does, or there is no schema. */
  readonly mismatch?: string | undefined
  /** Whether the structured content was checked against an output schema. */
  readonly isChecked?: boolean | undefined
}

/** A server request that waits for an answer of the page: a form, a web page to visit, or messages for a model. */
export interface QuestionRow {
  readonly id: string
  readonly kind: 'form' | 'url' | 'sample'
  /** The server that asks. */
  readonly server?: string | undefined
  /** The params of the request. */
  readonly params: unknown
  /** Milliseconds until it is answered with `cancel`. */
  readonly leftMs: number
}

/** A frame about the playground of one page. */
export interface PlayFrame {
  readonly event: 'play'
  /** In the first frame of a stream: the calls that are in flight. Others that the page waits for are lost. */
  readonly inFlight?: readonly string[] | undefined
  readonly runs: readonly RunUpdate[]
  /** Every question that is open now. */
  readonly questions: readonly QuestionRow[]
  /** Notifications of servers, such as log messages, as JSON; the oldest first. */
  readonly messages: readonly PlayMessage[]
  /** How many more notifications there were. */
  readonly messagesLeft: number
}

/** A notification of a server. */
export interface PlayMessage {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly method: string
  /** The params as JSON, cut at a limit. */
  readonly text: string
}

/** What `POST api/play/:page/run` takes. */
export interface RunRequest {
  /** The method of the request: `tools/call`, `prompts/get`, `resources/read` or another one that clients send. */
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** For `resources/read`: the values of the variables of a URI template, which is in `params.uri`. */
  readonly variables?: Readonly<Record<string, string>> | undefined
  /** How long to wait for the result, or for progress. */
  readonly timeoutMs?: number | undefined
  /** The protocol revision of the client; the newest by default. */
  readonly revision?: string | undefined
}

/** The answer to `POST api/play/:page/lists`: what callers of the router see. */
export interface PlayLists {
  readonly revisions: readonly string[]
  readonly tools: readonly PlayTool[]
  readonly prompts: readonly PlayPrompt[]
  readonly resources: readonly PlayResource[]
  readonly templates: readonly PlayTemplate[]
  /** Lists that could not be read, or that are longer than what is shown. */
  readonly problems: readonly string[]
}

/** A tool as callers see it. */
export interface PlayTool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: unknown
  readonly outputSchema?: unknown
  readonly annotations?: Readonly<Record<string, unknown>> | undefined
}

/** A prompt as callers see it. */
export interface PlayPrompt {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly arguments?:
    | readonly {
        readonly name: string
        readonly description?: string | undefined
        readonly required?: boolean | undefined
      }[]
    | undefined
}

/** A resource as callers see it. */
export interface PlayResource {
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
}

/** A resource template as callers see it. */
export interface PlayTemplate {
  readonly uriTemplate: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** The names of the variables of the template. */
  readonly variables: readonly string[]
}

/** What `POST api/play/:page/complete` takes. */
export interface CompleteRequest {
  readonly prompt?: string | undefined
  readonly template?: string | undefined
  readonly argument: string
  readonly value: string
  /** The arguments that are known already. */
  readonly context: Readonly<Record<string, string>>
}

/** What `POST api/play/:page/answers/:question` takes: what the person chose, with the content of a form or a message. */
export interface AnswerRequest {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** The content of a form, or the text of the model. */
  readonly content?: unknown
}

/** The answer to `POST api/validate`: the problems of a value. */
export interface ValidateAnswer {
  readonly issues: readonly {
    readonly path: readonly (string | number)[]
    readonly message: string
  }[]
}
