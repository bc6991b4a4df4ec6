import type { InputRequest } from '../../mcp/types/input.ts'

/** What the code of a tool knows of the task it runs as. */
export interface TaskHandle {
  readonly id: string
  /** Says in words how far it has come, to whoever follows the task. */
  message(text: string): void
}

/** The wish that the client answer a question as a task, where it can. */
export interface QuestionTask {
  /** How long the client is asked to keep its answer. */
  readonly ttlMs?: number
}

/** How a question is put. */
export interface AskOptions {
  readonly task?: QuestionTask
}

/** A call that is a task, or may become one. */
export interface TaskScope {
  /** Whether it is one already. */
  readonly isBegun: boolean
  readonly handle: TaskHandle
  /** Answers the call with a task and goes on as that task; does nothing where it is one. */
  begin(): Promise<void>
  /** Asks the client. The call has been answered, so this waits however long it takes. */
  ask(question: InputRequest, key: string, options?: AskOptions): Promise<unknown>
}
