import { createHash } from 'node:crypto'
import { redactText } from '../../observe/log/redact.ts'
import type { CallerSession, CallerState, CallerTask } from '../../router/caller-state.ts'
import { limits } from '../../util/limits/limits.ts'
import { randomToken } from '../../util/random.ts'
import { ownClientName, type RowOptions, shownPrincipal } from '../feed/call-rows.ts'
import { ApiError } from '../http/api.ts'
import type { SessionRow, SessionsAnswer, TaskRow } from '../wire-sessions.ts'

/** Shows the connections, subscriptions and tasks of callers, and ends them. Ids of sessions and tasks stay inside. */
export class SessionList {
  readonly #callers: CallerState
  readonly #people: RowOptions['people']
  /** Keeps the id of a task from being guessed from its handle, and handles from outliving the process. */
  readonly #salt = randomToken()

  constructor(callers: CallerState, people: RowOptions['people']) {
    this.#callers = callers
    this.#people = people
  }

  /** Returns the oldest rows of each kind, within the limit, and the counts of all. */
  read(): SessionsAnswer {
    const sessions = this.#callers.sessions()
    const subscriptions = this.#callers.subscriptions()
    const tasks = this.#callers.tasks()
    const most = limits.consoleSessions.default
    return {
      sessions: sessions.slice(0, most).map(session => this.#sessionRow(session)),
      sessionCount: sessions.length,
      subscriptions: subscriptions
        .slice(0, most)
        .map(({ uri, count }) => ({ uri: redactText(uri), count })),
      subscriptionCount: subscriptions.length,
      tasks: tasks.slice(0, most).map(task => this.#taskRow(task)),
      taskCount: tasks.length,
    }
  }

  /** Ends a session. Rejects with an ApiError 404 if it has ended already. */
  async end(handle: string): Promise<void> {
    if (await this.#callers.endSession(handle)) return
    throw new ApiError(404, 'not_found', 'the session has ended already')
  }

  /** Cancels a task. Rejects with an ApiError 404 if it has ended already. */
  async cancelTask(handle: string): Promise<void> {
    const task = this.#callers.tasks().find(({ id }) => this.#handleOf(id) === handle)
    if (task !== undefined && (await this.#callers.cancelTask(task.id))) return
    throw new ApiError(404, 'not_found', 'the task has ended already')
  }

  #sessionRow(session: CallerSession): SessionRow {
    const { id, client, principal, subscriptions, ...rest } = session
    return {
      handle: id,
      ...rest,
      ...(client && { client: redactText(client.name), version: redactText(client.version) }),
      ...(principal !== undefined && { principal: shownPrincipal(principal, this.#people) }),
      subscriptions: subscriptions.length,
      ...(client?.name === ownClientName && { isOurs: true }),
    }
  }

  #taskRow({ id, tool, status, message, principal, createdAt, ttlMs }: CallerTask): TaskRow {
    return {
      handle: this.#handleOf(id),
      tool,
      status,
      ...(message !== undefined && { message: redactText(message) }),
      ...(principal !== undefined && { principal: shownPrincipal(principal, this.#people) }),
      createdAt,
      expiresAt: createdAt + ttlMs,
    }
  }

  #handleOf(task: string): string {
    return createHash('sha256').update(`${this.#salt} ${task}`).digest('hex').slice(0, 16)
  }
}
