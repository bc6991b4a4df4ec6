import { limits } from '../../util/limits/limits.ts'

/** Counts authorizations for more scopes, so that a server cannot make a user log in again and again. */
export class StepUpBudget {
  /** The times of the last authorizations, by operation, oldest operation first. */
  readonly #times = new Map<string, readonly number[]>()

  /** Whether another authorization for this operation is allowed; if so, it is counted. */
  take(operation: string): boolean {
    const since = Date.now() - limits.stepUpMs.default
    const recent = (this.#times.get(operation) ?? []).filter(time => time > since)
    if (recent.length >= limits.stepUps.default) return false
    this.#times.delete(operation)
    this.#times.set(operation, [...recent, Date.now()])
    const [oldest] = this.#times.keys()
    if (this.#times.size > limits.stepUpOperations.default && oldest !== undefined)
      this.#times.delete(oldest)
    return true
  }
}

/** What was done for one request that was refused. */
export interface RequestSteps {
  /** How often it was sent again. */
  rounds: number
  hasRenewed: boolean
  authorizations: number
}

/** Remembers what was done for each request, for as long as the request exists. */
export class StepsByRequest {
  readonly #steps = new WeakMap<object, RequestSteps>()

  /** Returns the steps of a request, and counts one more refusal of it. */
  next(request: object): RequestSteps {
    const steps = this.#steps.get(request) ?? { rounds: 0, hasRenewed: false, authorizations: 0 }
    this.#steps.set(request, steps)
    steps.rounds++
    return steps
  }
}
