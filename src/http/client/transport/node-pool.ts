import { ChannelError } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import type { Clock, Timer } from '../../../util/time/clock.ts'
import type { Traffic } from '../../../util/traffic.ts'
import type { Answer, Carried, Carrier } from './http-client.ts'
import { Connection, type ConnectionHost, Job } from './node-connection.ts'
import { requestOf } from './request-writer.ts'

/**
 * Carries requests over connections of its own, which are kept for a while for the next ones.
 *
 * One request at a time uses a connection, and none is ever repeated here: of a connection that ends
 * before its answer nobody can tell whether the server has seen the request. All requests go to one
 * origin. Certificates are always checked, and nothing is ever unpacked. What passes is counted where
 * somebody wants to know.
 */
export function nodeCarrier(
  clock: Clock,
  maxNotices: number = limits.httpNotices.default,
  traffic?: Traffic,
): Carrier {
  return new Pool(clock, maxNotices, traffic)
}

class Pool implements Carrier, ConnectionHost {
  readonly clock: Clock
  readonly traffic: Traffic | undefined
  readonly #maxNotices: number
  readonly #open = new Set<Connection>()
  /** The one used last is at the end, and used next: so the others grow old. */
  readonly #spare: Connection[] = []
  #sweep: Timer | undefined
  #origin: string | undefined
  #notices = 0
  readonly #waiting: Job[] = []
  #isClosed = false

  constructor(clock: Clock, maxNotices: number, traffic: Traffic | undefined) {
    this.clock = clock
    this.traffic = traffic
    this.#maxNotices = maxNotices
  }

  ask(request: Carried): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed()
      this.#check(request.url)
      const job = new Job(request, requestOf(request), resolve, reject)
      if (request.isBrief !== true) this.#start(job)
      else if (this.#notices < this.#maxNotices) this.#notify(job)
      else this.#wait(job)
    })
  }

  close(): void {
    this.#isClosed = true
    if (this.#sweep !== undefined) this.clock.stop(this.#sweep)
    for (const job of this.#waiting.splice(0)) job.fail(closed())
    for (const connection of this.#open) connection.destroy()
  }

  keep(connection: Connection, ms: number): void {
    if (this.#isClosed) {
      connection.destroy()
      return
    }
    connection.keptUntil = this.clock.now() + ms
    this.#spare.push(connection)
    this.#watch()
  }

  forget(connection: Connection): void {
    this.#open.delete(connection)
    const at = this.#spare.indexOf(connection)
    if (at !== -1) this.#spare.splice(at, 1)
  }

  /** Whoever asked for one origin must never reach another over the same connections. */
  #check({ origin }: URL): void {
    this.#origin ??= origin
    if (origin === this.#origin) return
    throw new ChannelError(
      'refused',
      `${origin} is not ${this.#origin}, where everything else goes`,
    )
  }

  #start(job: Job): void {
    const now = this.clock.now()
    for (;;) {
      const spare = this.#spare.pop()
      if (spare === undefined) break
      if (spare.keptUntil > now && spare.isUsable) {
        spare.send(job)
        return
      }
      spare.destroy()
    }
    this.#open.add(new Connection(this, job))
  }

  #notify(job: Job): void {
    this.#notices++
    job.onOver = () => {
      this.#notices--
      const next = this.#waiting.shift()
      if (next !== undefined) this.#notify(next)
    }
    this.#start(job)
  }

  #wait(job: Job): void {
    this.#waiting.push(job)
    const { hold } = job.request
    hold.onDrop = () => {
      const at = this.#waiting.indexOf(job)
      if (at !== -1) this.#waiting.splice(at, 1)
      job.reject(hold.reason)
    }
  }

  /** Closes in time what nobody has used again. */
  #watch(): void {
    if (this.#sweep !== undefined || this.#isClosed) return
    this.#sweep = this.clock.start(() => {
      this.#sweep = undefined
      const now = this.clock.now()
      for (const spare of [...this.#spare]) if (spare.keptUntil <= now) spare.destroy()
      if (this.#spare.length > 0) this.#watch()
    }, limits.httpSpareMs.default / 4)
    this.#sweep.unref()
  }
}

function closed(): ChannelError {
  return new ChannelError('closed', 'sending: the channel is closed')
}
