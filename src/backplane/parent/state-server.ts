import type { Backplane } from '../backplane.ts'
import { BackplaneError } from '../backplane-error.ts'
import type { RecordStore } from '../record-store.ts'
import { type ProcessChannel, stateChannel } from './process-channel.ts'
import {
  isStateRequest,
  type LinkOperations,
  type StateChannel,
  type StateNews,
  type StateOperations,
  type StateReply,
  type StateRequest,
  serializationAdvice,
  stateFailure,
} from './protocol.ts'

/** What a link can ask for. */
type ServedLink = StateOperations & LinkOperations

const servers = new WeakMap<Backplane, StateServer>()

/**
 * Gives a child process, which calls `parentBackplane`, the use of a backplane of this process, such as `memory()`.
 * Returns a function that ends that; call it when the child has exited.
 */
export function serveBackplane(backplane: Backplane, child: ProcessChannel): () => void {
  const server = servers.get(backplane) ?? new StateServer(backplane)
  servers.set(backplane, server)
  return server.attach(stateChannel(child))
}

/** The processes that use a backplane of this one. */
class StateServer {
  readonly #backplane: Backplane
  readonly #operations: StateOperations
  /** Reports to every subscriber that messages may be missing. */
  readonly #gaps = new Set<() => void>()

  constructor(backplane: Backplane) {
    this.#backplane = backplane
    this.#operations = operationsOf(backplane)
  }

  /** Serves a channel. Returns a function that ends that, to be called when the other process has ended. */
  attach(channel: StateChannel): () => void {
    const links = new Map<number, ServedLink>()
    const stopListening = channel.onMessage(message => {
      if (!isStateRequest(message)) return
      const { link: number } = message
      const link = links.get(number) ?? this.#link(number, channel)
      links.set(number, link)
      void serve(message, link, channel)
      if (message.operation === 'end') links.delete(number)
    })
    return () => {
      stopListening()
      for (const link of links.values()) link.end()
    }
  }

  #link(link: number, channel: StateChannel): ServedLink {
    const { bus } = this.#backplane
    const subscriptions = new Map<string, () => void>()
    let hasEnded = false
    return {
      ...this.#operations,
      hello: async nothing => {
        if (nothing !== undefined) throw new BackplaneError('down', serializationAdvice)
      },
      subscribe: async name => {
        const news = { type: 'state news', link, channel: name } as const
        const gap = (): void => channel.send(news satisfies StateNews)
        const message = (text: string): void => channel.send({ ...news, text } satisfies StateNews)
        const unsubscribe = await bus.subscribe(name, { message, gap })
        // A second subscription replaces the first one, and one of a link that has ended meanwhile is not kept.
        subscriptions.get(name)?.()
        if (hasEnded) return unsubscribe()
        this.#gaps.add(gap)
        subscriptions.set(name, () => {
          this.#gaps.delete(gap)
          unsubscribe()
        })
      },
      unsubscribe: name => {
        subscriptions.get(name)?.()
        subscriptions.delete(name)
      },
      publish: (name, text) => bus.publish(name, text),
      reportGap: () => {
        for (const report of this.#gaps) report()
      },
      end: () => {
        hasEnded = true
        for (const unsubscribe of subscriptions.values()) unsubscribe()
        subscriptions.clear()
      },
    }
  }
}

async function serve(request: StateRequest, all: ServedLink, channel: StateChannel): Promise<void> {
  const { link, id } = request
  const outcome = await run(request, all).then(
    value => ({ value }),
    error => ({ error: stateFailure(error) }),
  )
  if (id === undefined) return
  channel.send({ type: 'state reply', link, id, ...outcome } satisfies StateReply)
}

async function run({ operation, args }: StateRequest, link: ServedLink): Promise<unknown> {
  if (!Object.hasOwn(link, operation)) throw new Error(`there is no operation "${operation}"`)
  // The check: both processes run the same program, so these are the arguments of the operation.
  const run = link[operation] as (...values: readonly unknown[]) => unknown
  return run(...args)
}

function operationsOf({ membership, store, log, rates }: Backplane): StateOperations {
  return {
    heartbeat: (...args) => membership.heartbeat(...args),
    expel: (...args) => membership.expel(...args),
    leave: (...args) => membership.leave(...args),
    get: (...args) => store.get(...args),
    getAll: (...args) => store.getAll(...args),
    claim: (...args) => store.claim(...args),
    put: (...args) => store.put(...args),
    swap: (...args) => store.swap(...args),
    deleteRecord: (...args) => store.delete(...args),
    touch: (...args) => store.touch(...args),
    add: (...args) => store.add(...args),
    remove: (...args) => store.remove(...args),
    names: set => pagesOf(store, set),
    append: (...args) => log.append(...args),
    readAfter: (...args) => log.readAfter(...args),
    deleteLog: (...args) => log.delete(...args),
    take: (...args) => rates.take(...args),
    leaseSlots: (...args) => rates.leaseSlots(...args),
  }
}

async function pagesOf(store: RecordStore, set: string): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = []
  for await (const page of store.names(set)) pages.push(page)
  return pages
}
