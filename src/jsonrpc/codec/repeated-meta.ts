import { frozen } from '../../util/frozen.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Params } from '../message.ts'
import { CLOSE_OBJECT } from './char-codes.ts'
import { ownText } from './detach.ts'

/**
 * What the messages of one connection say again and again at the end of their params or results:
 * `_meta`, in which stateless clients tell who they are with every request, and servers with every
 * answer. Text that is the same to the last character is parsed once, and every message gets the
 * same value, frozen through and through.
 *
 * One for each connection, so that nothing of one sender is ever at hand while another one's text is
 * read. Keeps at most two texts of `repeatedLength` characters.
 */
export class Repeats {
  /** From the comma before the key to the brace that ends the params or the result, as the value below was written. */
  #text = ''
  #value: object | undefined
  /** The same of the last message, if it was another: worth parsing apart only when it comes again. */
  #candidate = ''

  /**
   * The params, or the result, at `[at, end)`, exactly as `JSON.parse` gives them, save that
   * `_meta` may be frozen. Throws where the text is no JSON.
   */
  parse(text: string, at: number, end: number): Params {
    const from = this.tailAt(text, at, end)
    if (from >= 0) {
      // Whatever stands before the comma, be it in the middle of a string: where it is a whole object
      // with a brace behind it, the comma stood between two of its members.
      const params = JSON.parse(`${text.slice(at, from)}}`)
      if (isOpenTo(params)) {
        params[KEY] = this.#value
        return params
      }
    }
    return JSON.parse(text.slice(at, end))
  }

  /** What comes again, parsed and frozen. */
  get value(): object | undefined {
    return this.#value
  }

  /**
   * Where in `[at, end)` the text begins, with its comma, that `value` stands for, or -1. What is there
   * instead is kept in mind, so that this is to be asked once for a text.
   */
  tailAt(text: string, at: number, end: number): number {
    const from = end - this.#text.length
    // Cut out and compared, which takes a third of what startsWith takes.
    if (this.#value !== undefined && from > at && text.slice(from, end) === this.#text) return from
    this.#learn(text, at, end)
    return -1
  }

  #learn(text: string, at: number, end: number): void {
    if (text.charCodeAt(end - 2) !== CLOSE_OBJECT) return
    const from = text.indexOf(MARK, Math.max(at, end - limits.repeatedLength.default))
    if (from < 0 || from >= end) return
    const tail = text.slice(from, end)
    if (tail !== this.#candidate) {
      this.#candidate = ownText(tail)
      return
    }
    try {
      this.#value = frozen(JSON.parse(tail.slice(MARK.length - 1, -1)))
      this.#text = this.#candidate
    } catch {
      // The key of something else, further inside: this text teaches nothing.
    }
  }
}

const KEY = '_meta'
const MARK = `,"${KEY}":{`

/** Whether a member may be put behind the others: there is one before the comma, and none of its name. */
function isOpenTo(params: Record<string, unknown>): boolean {
  if (Object.hasOwn(params, KEY)) return false
  for (const _ in params) return true
  return false
}
