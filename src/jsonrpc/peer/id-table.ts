import type { Id } from '../message.ts'

/**
 * A table of objects by id, for ids that are mostly ascending numbers and short-lived.
 *
 * Not a Map: while entries come and go, a Map rehashes into new backing tables, and each old table
 * keeps a reference to the next. Once one of them is promoted to the old generation, all that follow
 * stay alive until the next full collection, and with them every call that was pending at that time.
 * With 256 calls pending, one get, delete and set take 26 ns here and 73 ns in a Map (Node 20).
 */
export class IdTable<T extends object> {
  /**
   * The id in each slot; the slot of a number is its last bits. Empty until the first: connections may
   * be idle.
   */
  #ids: number[] = []
  #values: (T | undefined)[] = []
  #inSlots = 0
  /** Ids that are not numbers, and numbers whose slot was taken. */
  #others: Map<Id, T> | undefined

  get size(): number {
    return this.#inSlots + (this.#others?.size ?? 0)
  }

  has(id: Id): boolean {
    return this.get(id) !== undefined
  }

  get(id: Id): T | undefined {
    if (typeof id === 'number') {
      const at = id & (this.#ids.length - 1)
      if (this.#ids[at] === id) {
        const value = this.#values[at]
        if (value !== undefined) return value
      }
    }
    return this.#others?.get(id)
  }

  /** Adds a value under an id that is not in the table. */
  set(id: Id, value: T): void {
    if (typeof id !== 'number' || !this.#putInSlot(id, value)) {
      this.#others ??= new Map()
      this.#others.set(id, value)
    }
  }

  delete(id: Id): boolean {
    if (typeof id === 'number') {
      const at = id & (this.#ids.length - 1)
      if (this.#ids[at] === id && this.#values[at] !== undefined) {
        this.#values[at] = undefined
        this.#inSlots--
        return true
      }
    }
    return this.#others?.delete(id) ?? false
  }

  /** Returns a snapshot of all values: those in slots first, in the order of their ids. */
  values(): T[] {
    const slots = this.#values.flatMap((value, at) =>
      value === undefined ? [] : [{ id: this.#ids[at] ?? 0, value }],
    )
    slots.sort((a, b) => a.id - b.id)
    return [...slots.map(({ value }) => value), ...(this.#others?.values() ?? [])]
  }

  #putInSlot(id: number, value: T): boolean {
    if (this.#ids.length === 0) this.#resize(MIN_SLOTS)
    let at = id & (this.#ids.length - 1)
    // A single long-lived entry, met again after the numbers wrapped around, is no reason to grow.
    while (this.#values[at] !== undefined) {
      const slots = this.#ids.length
      if (this.#inSlots * 2 < slots || slots >= MAX_SLOTS) return false
      this.#resize(slots * 2)
      at = id & (this.#ids.length - 1)
    }
    this.#ids[at] = id
    this.#values[at] = value
    this.#inSlots++
    return true
  }

  #resize(slots: number): void {
    const ids = this.#ids
    const values = this.#values
    this.#ids = new Array(slots).fill(0)
    this.#values = new Array(slots).fill(undefined)
    // With twice as many slots, ids that had different slots still have.
    values.forEach((value, from) => {
      const id = ids[from]
      if (value === undefined || id === undefined) return
      const at = id & (slots - 1)
      this.#ids[at] = id
      this.#values[at] = value
    })
  }
}

// Powers of two, so that the last bits of a number are its slot.
const MIN_SLOTS = 16
const MAX_SLOTS = 4096
