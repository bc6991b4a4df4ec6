import type { Clock } from '../../../util/time/clock.ts'
import {
  type DialEngine,
  EngineReplyError,
  type OpenRaw,
  type RawConnection,
} from '../raw-connection.ts'
import { arrayReply, textReply } from '../replies.ts'
import type { EngineAddress } from './address.ts'
import { ask } from './ask.ts'
import { locatedConnection } from './located-connection.ts'

/** Makes connections to the primary that sentinels name at the time. */
export function primaryConnection(address: EngineAddress, dial: DialEngine, clock: Clock): OpenRaw {
  return locatedConnection(
    async () => dial(await primaryUrl(address, dial, clock)),
    async connection => {
      const [role] = arrayReply(await connection.send(['ROLE']))
      // The sentinels have not noticed yet, or the engine not yet.
      if (role !== 'master') throw new Error('the engine that the sentinels name is no primary')
    },
  )
}

/**
 * Asks all sentinels at the same time, because one of them may hang or be cut off from the others. Of their answers
 * the one with the greatest configuration epoch is the newest.
 */
async function primaryUrl(address: EngineAddress, dial: DialEngine, clock: Clock): Promise<string> {
  const answers = new Answers(address.urls.length)
  for (const url of address.urls) {
    ask(dial(url), clock, sentinel => primaryKnownTo(sentinel, address)).then(
      found => answers.add(found),
      error => answers.fail(error),
    )
  }
  const newest = await answers.newest
  return address.urlOf(newest.host, newest.port)
}

interface Primary {
  readonly host: string
  readonly port: string
  readonly epoch: number
}

/** Collects answers, until more than half have come or no further one can come. */
class Answers {
  readonly newest: Promise<Primary>
  readonly #asked: number
  #answered = 0
  #failed = 0
  #best: Primary | undefined
  #resolve: (primary: Primary) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(asked: number) {
    this.#asked = asked
    this.newest = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  add(primary: Primary): void {
    this.#answered++
    if (this.#best === undefined || primary.epoch > this.#best.epoch) this.#best = primary
    this.#settle()
  }

  fail(error: unknown): void {
    this.#failed++
    if (this.#failed === this.#asked) this.#reject(error)
    this.#settle()
  }

  #settle(): void {
    if (this.#best === undefined) return
    const isEnough =
      this.#answered > this.#asked / 2 || this.#answered + this.#failed === this.#asked
    if (isEnough) this.#resolve(this.#best)
  }
}

async function primaryKnownTo(sentinel: RawConnection, address: EngineAddress): Promise<Primary> {
  const question = () => sentinel.send(['SENTINEL', 'MASTER', address.primary])
  const reply = await question().catch(async error => {
    const text = error instanceof EngineReplyError ? error.message : ''
    if (text.startsWith('ERR No such master')) {
      throw new TypeError(
        `the sentinels know no primary "${address.primary}"; the address must end with the name of theirs`,
      )
    }
    if (!text.startsWith('NOAUTH') || address.credentials.length === 0) throw error
    await sentinel.send(['AUTH', ...address.credentials])
    return question()
  })
  const flat = arrayReply(reply).map(textReply)
  const fact = (name: string) =>
    flat[flat.findIndex((each, at) => at % 2 === 0 && each === name) + 1]
  const { ip: host, port } = { ip: fact('ip'), port: fact('port') }
  if (host === undefined || port === undefined) {
    throw new Error(`a sentinel does not know the address of "${address.primary}"`)
  }
  return { host, port, epoch: Number(fact('config-epoch') ?? 0) }
}
