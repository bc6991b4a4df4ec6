import type { Router } from '../../router/router.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, systemClock, type Timer } from '../../util/time/clock.ts'
import { ApiError } from '../http/api.ts'
import type { PlayFrame } from '../wire-play.ts'
import { Player } from './player.ts'

/** The playground of a page, and how many of its streams are open. */
interface PlayingPage {
  readonly player: Player
  streams: number
  /** Runs while no stream is open. */
  leaving: Timer | undefined
}

/**
 * The playgrounds of all pages. A page names itself by a token that it makes, joins with its stream, and is forgotten
 * some seconds after its stream has ended.
 */
export class Playground {
  readonly #router: Router
  readonly #clock: Clock
  readonly #pages = new Map<string, PlayingPage>()
  /** Called when a page should be sent what is new for it. */
  onReady: (page: string) => void = () => {}

  constructor(router: Router, clock: Clock = systemClock) {
    this.#router = router
    this.#clock = clock
  }

  /** How many pages there are, those included that were left a moment ago. */
  get size(): number {
    return this.#pages.size
  }

  /** A stream of the page was opened. Throws an ApiError 400 for a token that is too short to be secret. */
  join(token: string): void {
    if (!/^[\w-]{20,64}$/.test(token)) {
      const message = 'the topic "play" needs a "page": 20 to 64 random letters and digits'
      throw new ApiError(400, 'bad_page', message)
    }
    let page = this.#pages.get(token)
    if (page === undefined) {
      const player = new Player(this.#router, () => this.onReady(token))
      page = { player, streams: 0, leaving: undefined }
      this.#pages.set(token, page)
    }
    page.streams++
    this.#stay(page)
  }

  /** A stream of the page has ended. */
  leave(token: string): void {
    const page = this.#pages.get(token)
    if (page === undefined || --page.streams > 0) return
    page.leaving = this.#clock.start(() => this.#forget(token), limits.consoleLeaveMs.default)
    page.leaving.unref()
  }

  /** Returns the playground of a page. Throws an ApiError 409 if the page has no stream, which would get the results. */
  player(token: string): Player {
    const page = this.#pages.get(token)
    if (page !== undefined) return page.player
    throw new ApiError(409, 'no_stream', 'the page has no stream with the topic "play"')
  }

  /** Returns the first frame of a stream of a page. */
  first(token: string): PlayFrame {
    return this.player(token).first()
  }

  /** Returns what is new for a page; undefined if nothing is. */
  take(token: string): PlayFrame | undefined {
    return this.#pages.get(token)?.player.take()
  }

  /** Closes all playgrounds at once. */
  close(): void {
    for (const token of [...this.#pages.keys()]) this.#forget(token)
  }

  #forget(token: string): void {
    const page = this.#pages.get(token)
    if (page === undefined) return
    this.#pages.delete(token)
    this.#stay(page)
    void page.player.close()
  }

  #stay(page: PlayingPage): void {
    if (page.leaving !== undefined) this.#clock.stop(page.leaving)
    page.leaving = undefined
  }
}
