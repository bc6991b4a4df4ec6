import type { MessageBus } from '../../backplane/message-bus.ts'
import type { Members } from '../../mcp/types/base.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { randomHex } from '../../util/random.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { withTimeout } from '../../util/time/sleep.ts'

/** What one node sends to the node that runs a task. */
interface ResponseMessage {
  readonly responses: Members
  /** The channel on which the other node confirms that it has got them. */
  readonly confirm: string
}

/** Carries the responses of clients to the node that runs their task, whichever node they were sent to. */
export class TaskResponses {
  readonly #bus: MessageBus
  readonly #clock: Clock

  constructor(bus: MessageBus, clock: Clock = systemClock) {
    this.#bus = bus
    this.#clock = clock
  }

  /** Sends responses. Resolves to whether the node that runs the task has confirmed them. */
  async send(task: string, responses: Members): Promise<boolean> {
    const confirm = `task confirmed ${randomHex(16)}`
    let confirmed: () => void = () => {}
    const message = (): void => confirmed()
    // Sent again after a gap: responses to requests that are not open any more are ignored.
    const send = (): void => {
      const text: ResponseMessage = { responses, confirm }
      this.#bus.publish(channelOf(task), JSON.stringify(text))
    }
    const stop = await this.#bus.subscribe(confirm, { message, gap: send })
    try {
      return await withTimeout(limits.sharedTaskResponseMs.default, this.#clock, done => {
        confirmed = done
        send()
      })
    } finally {
      stop()
    }
  }

  /** Calls the listener with the responses for a task, and confirms them when it has taken them. */
  receive(task: string, listener: (responses: Members) => Promise<void>): Promise<() => void> {
    return this.#bus.subscribe(channelOf(task), {
      message: text => void this.#received(text, listener),
      // The sender notices the same gap, and sends again.
      gap: () => {},
    })
  }

  async #received(text: string, listener: (responses: Members) => Promise<void>): Promise<void> {
    const message: unknown = JSON.parse(text)
    if (!isRecord(message) || !isRecord(message.responses)) return
    if (typeof message.confirm !== 'string') return
    await listener(message.responses)
    this.#bus.publish(message.confirm, '{}')
  }
}

function channelOf(task: string): string {
  return `task ${task}`
}
