import { limits } from '../../util/limits/limits.ts'

/** The ids of questions that a session was asked to settle on a web page. */
export class Elicitations {
  /** Absent before the first: most sessions are never asked such a question. */
  #ids: Set<string> | undefined

  add(id: string | undefined): void {
    if (id === undefined) return
    this.#ids ??= new Set()
    this.#ids.delete(id)
    this.#ids.add(id)
    if (this.#ids.size <= limits.urlElicitations.default) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      break
    }
  }

  /** Forgets a question; returns whether it was one. */
  settle(id: string): boolean {
    return this.#ids?.delete(id) ?? false
  }
}
