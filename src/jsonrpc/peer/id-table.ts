import type { Id } from '../message.ts'

/**
 * Things by their ids, for ids that come and go all the time and are mostly numbers in a row.
 *
 * Not a Map: while entries come and go, a Map moves to one new table after the other, and each old one
 * holds on to the next. Once one of them is old enough, all that follow it stay until the next full
 * collection, and with them every call that was on its way when they were left; collecting them took
 * more time than the calls themselves.
 */
export class IdTable<T extends object> {
  /** Where a number stands by its last bits. Absent before the first: connections may be idle. */
  #ids: number[] = []
  #things: (T | undefined)[] = []
  #inPlace = 0
  /** Those that are no numbers, and numbers whose place was taken. */
  #others: Map<Id, T> | undefined

  get size(): number {
    return this.#inPlace + (this.#others?.size ?? 0)
  }

  has(id: Id): boolean {
    return this.get(id) !== undefined
  }

  get(id: Id): T | undefined {
    if (typeof id === 'number') {
      const at = id & (this.#ids.length - 1)
      if (this.#ids[at] === id) {
        const thing = this.#things[at]
        if (thing !== undefined) return thing
      }
    }
    return this.#others?.get(id)
  }

  /** Adds a thing under an id that is not there yet. */
  set(id: Id, thing: T): void {
    if (typeof id !== 'number' || !this.#place(id, thing)) {
      this.#others ??= new Map()
      this.#others.set(id, thing)
    }
  }

  delete(id: Id): boolean {
    if (typeof id === 'number') {
      const at = id & (this.#ids.length - 1)
      if (this.#ids[at] === id && this.#things[at] !== undefined) {
        this.#things[at] = undefined
        this.#inPlace--
        return true
      }
    }
    return this.#others?.delete(id) ?? false
  }

  /** All of them as they are now: numbers first, in their order. */
  values(): T[] {
    const places = this.#things.flatMap((thing, at) =>
      thing === undefined ? [] : [{ id: this.#ids[at] ?? 0, thing }],
    )
    places.sort((a, b) => a.id - b.id)
    return [...places.map(({ thing }) => thing), ...(this.#others?.values() ?? [])]
  }

  #place(id: number, thing: T): boolean {
    if (this.#ids.length === 0) this.#resize(FEWEST)
    let at = id & (this.#ids.length - 1)
    // One that has been there for long, while the numbers went round, is no reason to grow.
    while (this.#things[at] !== undefined) {
      const places = this.#ids.length
      if (this.#inPlace * 2 < places || places >= MOST) return false
      this.#resize(places * 2)
      at = id & (this.#ids.length - 1)
    }
    this.#ids[at] = id
    this.#things[at] = thing
    this.#inPlace++
    return true
  }

  #resize(places: number): void {
    const ids = this.#ids
    const things = this.#things
    this.#ids = new Array(places).fill(0)
    this.#things = new Array(places).fill(undefined)
    // Twice as many places tell apart whatever was told apart before.
    things.forEach((thing, from) => {
      const id = ids[from]
      if (thing === undefined || id === undefined) return
      const at = id & (places - 1)
      this.#ids[at] = id
      this.#things[at] = thing
    })
  }
}

// Powers of two, so that the last bits of a number are its place.
const FEWEST = 16
const MOST = 4096
