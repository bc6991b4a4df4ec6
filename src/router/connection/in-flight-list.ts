import type { Errand, Place } from '../forward/errand.ts'

/**
 * The calls of one connection, in the order in which they came: what a Set would be.
 *
 * Not a Set: while entries come and go, it moves from table to table, each of which holds on to the next,
 * and with them every call that was on its way stays alive until all memory is looked through, which
 * takes more time than the calls. Here each of them has its place in itself, and thus belongs to one
 * connection at a time: whoever adds it takes it away from another.
 */
export class Errands implements Iterable<Errand> {
  #first: Place | undefined
  #last: Place | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  has(errand: Errand): boolean {
    return errand.place?.among === this
  }

  /** Adds a call behind the others; one that is there stays where it is. */
  add(errand: Errand): void {
    const before = errand.place?.among
    if (before === this) return
    before?.delete(errand)
    const place: Place = { errand, among: this, previous: this.#last, next: undefined }
    errand.place = place
    if (this.#last === undefined) this.#first = place
    else this.#last.next = place
    this.#last = place
    this.#size++
  }

  /** Returns whether it was there. */
  delete(errand: Errand): boolean {
    const { place } = errand
    if (place === undefined || place.among !== this) return false
    const { previous, next } = place
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    errand.place = undefined
    this.#size--
    return true
  }

  *[Symbol.iterator](): Generator<Errand, void, undefined> {
    for (let at = this.#first; at !== undefined; at = at.next) yield at.errand
  }
}
