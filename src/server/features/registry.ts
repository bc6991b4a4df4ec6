import type { Rounds } from '../input/request-state.ts'
import type { Cursors } from './cursor.ts'

/** What features need of their server. */
export interface FeatureHost {
  readonly rounds: Rounds
  readonly cursors: Cursors
  /** Entries on one page of a list. */
  readonly pageSize: number
}

/** Lets its owner change or take back what was registered. */
export interface Registration<T> {
  readonly name: string
  readonly isEnabled: boolean
  /** Changes some of its definition; subscribers are told. */
  update(changes: Partial<T>): void
  enable(): void
  /** Hides it from lists and refuses it by name, as if it were not there. */
  disable(): void
  /** Takes it back for good. */
  remove(): void
}

interface Slot<D, T> {
  /** Grows from one registration to the next, and is never given twice. */
  readonly place: number
  definition: D
  value: T
  isEnabled: boolean
}

/**
 * Things made of definitions and registered under keys: in the order of registration, enabled or not,
 * telling of every change. Keys are unique.
 */
export class FeatureSet<D extends object, T> {
  readonly #what: string
  readonly #onChange: () => void
  readonly #slots = new Map<string, Slot<D, T>>()
  #listed: readonly T[] | undefined
  #places: readonly number[] | undefined
  /** How many were ever registered. */
  #count = 0

  /** `what` names the kind in error messages. */
  constructor(what: string, onChange: () => void) {
    this.#what = what
    this.#onChange = onChange
  }

  /** Whether anything was ever registered: what is empty for good is no capability. */
  get isUsed(): boolean {
    return this.#count > 0
  }

  get(key: string): T | undefined {
    const slot = this.#slots.get(key)
    return slot?.isEnabled ? slot.value : undefined
  }

  /** Those that are enabled; the same array until something changes. */
  list(): readonly T[] {
    this.#listed ??= this.#enabled().map(slot => slot.value)
    return this.#listed
  }

  /** The places of those in the list: an entry keeps its own, whatever comes and goes. */
  places(): readonly number[] {
    this.#places ??= this.#enabled().map(slot => slot.place)
    return this.#places
  }

  /**
   * Throws for a key that is taken. `make` is called with the definition, and again whenever its owner
   * changes it; where it throws, everything stays as it was.
   */
  add(key: string, name: string, definition: D, make: (definition: D) => T): Registration<D> {
    if (this.#slots.has(key)) throw new TypeError(`there is already a ${this.#what} "${key}"`)
    const value = make(definition)
    const slot: Slot<D, T> = { place: this.#count++, definition, value, isEnabled: true }
    this.#slots.set(key, slot)
    this.#changed()
    const isHere = (): boolean => this.#slots.get(key) === slot
    const enable = (isEnabled: boolean): void => {
      if (slot.isEnabled === isEnabled || !isHere()) return
      slot.isEnabled = isEnabled
      this.#changed()
    }
    return {
      name,
      get isEnabled() {
        return slot.isEnabled
      },
      update: changes => {
        const changed = { ...slot.definition, ...changes }
        slot.value = make(changed)
        slot.definition = changed
        if (isHere()) this.#changed()
      },
      enable: () => enable(true),
      disable: () => enable(false),
      remove: () => {
        if (!isHere()) return
        this.#slots.delete(key)
        this.#changed()
      },
    }
  }

  #enabled(): readonly Slot<D, T>[] {
    return Array.from(this.#slots.values()).filter(slot => slot.isEnabled)
  }

  #changed(): void {
    this.#listed = undefined
    this.#places = undefined
    this.#onChange()
  }
}
