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

interface Slot<T> {
  value: T
  isEnabled: boolean
}

/**
 * Things registered under names: in the order of registration, enabled or not, telling of every
 * change. Names are unique.
 */
export class FeatureSet<T> {
  readonly #what: string
  readonly #onChange: () => void
  readonly #slots = new Map<string, Slot<T>>()
  #listed: readonly T[] | undefined

  /** `what` names the kind in error messages. */
  constructor(what: string, onChange: () => void) {
    this.#what = what
    this.#onChange = onChange
  }

  /** Whether anything was ever registered: what is empty for good is no capability. */
  get isUsed(): boolean {
    return this.#slots.size > 0
  }

  get(name: string): T | undefined {
    const slot = this.#slots.get(name)
    return slot?.isEnabled ? slot.value : undefined
  }

  /** Those that are enabled; the same array until something changes. */
  list(): readonly T[] {
    this.#listed ??= Array.from(this.#slots.values())
      .filter(slot => slot.isEnabled)
      .map(slot => slot.value)
    return this.#listed
  }

  /** Throws for a name that is taken. `rebuild` makes the value anew when its owner changes it. */
  add(name: string, value: T, rebuild: (value: T, changes: Partial<T>) => T): Registration<T> {
    if (this.#slots.has(name)) throw new TypeError(`there is already a ${this.#what} "${name}"`)
    const slot: Slot<T> = { value, isEnabled: true }
    this.#slots.set(name, slot)
    this.#changed()
    const enable = (isEnabled: boolean): void => {
      if (slot.isEnabled === isEnabled || this.#slots.get(name) !== slot) return
      slot.isEnabled = isEnabled
      this.#changed()
    }
    return {
      name,
      get isEnabled() {
        return slot.isEnabled
      },
      update: changes => {
        slot.value = rebuild(slot.value, changes)
        if (this.#slots.get(name) === slot) this.#changed()
      },
      enable: () => enable(true),
      disable: () => enable(false),
      remove: () => {
        if (this.#slots.get(name) !== slot) return
        this.#slots.delete(name)
        this.#changed()
      },
    }
  }

  #changed(): void {
    this.#listed = undefined
    this.#onChange()
  }
}
