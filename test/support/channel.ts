import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { Decoded } from '../../src/jsonrpc/message.ts'

/** Answers each message with itself and each malformed text with its error, and closes when told. */
export function echo(channel: Channel): void {
  channel.open({
    receive: arrival => {
      if (arrival.type === 'invalid') {
        void channel.send({ type: 'error', id: arrival.id, error: arrival.error })
      } else if (arrival.type !== 'batch') {
        void channel.send(arrival)
      }
    },
    closed: () => void channel.close(),
  })
}

/** A channel opened for looking on: what comes, one by one, and how it ends. */
export interface Watched {
  readonly channel: Channel
  /** The next arrival, or undefined when the channel has ended. */
  next(): Promise<Decoded | undefined>
  /** What the sink was told at the end. */
  readonly closed: Promise<Error | undefined>
}

export function watch(channel: Channel): Watched {
  const arrivals: Decoded[] = []
  let arrived = (): void => {}
  let end: (cause?: Error) => void = () => {}
  const closed = new Promise<Error | undefined>(resolve => {
    end = resolve
  })
  channel.open({
    receive: arrival => {
      arrivals.push(arrival)
      arrived()
    },
    closed: cause => end(cause),
  })
  const next = async (): Promise<Decoded | undefined> => {
    if (arrivals.length === 0) {
      const arrival = new Promise<void>(resolve => {
        arrived = resolve
      })
      await Promise.race([arrival, closed])
    }
    return arrivals.shift()
  }
  return { channel, next, closed }
}

/** Keeps what a test opened, to close it in reverse order when the test is over. */
export class Owned {
  readonly #opened: AsyncDisposable[] = []

  add<T extends AsyncDisposable>(one: T): T {
    this.#opened.push(one)
    return one
  }

  async closeAll(): Promise<void> {
    for (const one of this.#opened.splice(0).reverse()) await one[Symbol.asyncDispose]()
  }
}
