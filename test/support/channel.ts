import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { Decoded } from '../../src/jsonrpc/message.ts'

/** Echoes each message, answers each malformed text with its error, and closes with its peer. */
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

/** An open channel whose arrivals a test reads one by one. */
export interface Watched {
  readonly channel: Channel
  /** Returns the next arrival; undefined if the channel has closed. */
  next(): Promise<Decoded | undefined>
  /** The cause that the sink received on close. */
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

/** Collects what a test opens, to close it in reverse order after the test. */
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
