import type { InputRounds } from '../input/request-state.ts'
import type { Cursors } from './pagination.ts'

/** What features need from their endpoint. */
export interface FeatureHost {
  readonly rounds: InputRounds
  readonly cursors: Cursors
  /** Entries on one page of a list. */
  readonly pageSize: number
}

/** Updates, disables or removes what was registered. */
export interface Registration<T> {
  /** The name under which it is registered. */
  readonly name: string
  /** Whether clients see it. */
  readonly isEnabled: boolean
  /** Changes members of its definition and notifies subscribers. */
  update(changes: Partial<T>): void
  /** Shows it to clients again after `disable`. */
  enable(): void
  /** Hides it from lists and rejects requests for it, as if it did not exist. */
  disable(): void
  /** Removes it permanently. */
  remove(): void
}

interface Slot<D, T> {
  /** Increases from one registration to the next, and is never used twice. */
  readonly position: number
  definition: D
  value: T
  isEnabled: boolean
}

/**
 * The registered entries of one kind, under unique keys and in the order of registration. Each entry is
 * made of its definition. Calls `onChange` on every change.
 */
export class FeatureSet<D extends object, T> {
  readonly #kind: string
  readonly #onChange: () => void
  readonly #slots = new Map<string, Slot<D, T>>()
  #listed: readonly T[] | undefined
  #positions: readonly number[] | undefined
  /** The number of entries that were ever registered. */
  #count = 0

  /** `kind` names the kind of entries in error messages. */
  constructor(kind: string, onChange: () => void) {
    this.#kind = kind
    this.#onChange = onChange
  }

  /** Whether anything was ever registered. Without that the server declares no capability. */
  get isUsed(): boolean {
    return this.#count > 0
  }

  /** Whether a key is taken, even by an entry that is disabled. */
  has(key: string): boolean {
    return this.#slots.has(key)
  }

  get(key: string): T | undefined {
    const slot = this.#slots.get(key)
    return slot?.isEnabled ? slot.value : undefined
  }

  /** The entries that are enabled; the same array until something changes. */
  list(): readonly T[] {
    this.#listed ??= this.#enabled().map(slot => slot.value)
    return this.#listed
  }

  /** The positions of the entries in `list()`. An entry keeps its position while others come and go. */
  positions(): readonly number[] {
    this.#positions ??= this.#enabled().map(slot => slot.position)
    return this.#positions
  }

  /**
   * Adds an entry. Throws a TypeError for a key that is taken. Calls `make` with the definition, and
   * again on every update; where `make` throws, nothing changes.
   */
  add(key: string, name: string, definition: D, make: (definition: D) => T): Registration<D> {
    if (this.#slots.has(key)) throw new TypeError(`duplicate ${this.#kind} "${key}"`)
    const value = make(definition)
    const slot: Slot<D, T> = { position: this.#count++, definition, value, isEnabled: true }
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
    this.#positions = undefined
    this.#onChange()
  }
}
