import type { InputRequest } from '../../mcp/types/input.ts'

/** The task that a tool runs as, for the code of the tool. */
export interface CurrentTask {
  /** The id under which clients know the task. */
  readonly id: string
  /** Sets the status message of the task, which clients that follow the task see. */
  message(text: string): void
}

/** Asks the client to answer a server request as a task. */
export interface ServerRequestTask {
  /** How long the client is asked to keep the response. */
  readonly ttlMs?: number
}

/** The options of a server request. */
export interface ServerRequestOptions {
  /** Asks the client to answer as a task, where it supports that. */
  readonly task?: ServerRequestTask
}

/** A call that is a task, or may become one. */
export interface TaskScope {
  /** Whether it is a task already. */
  readonly isBegun: boolean
  readonly handle: CurrentTask
  /** Answers the call with a task and continues as that task; does nothing where it is a task. */
  begin(): Promise<void>
  /** Sends a server request. The call was answered already, so this waits without a timeout. */
  ask(request: InputRequest, key: string, options?: ServerRequestOptions): Promise<unknown>
}
