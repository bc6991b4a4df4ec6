import type { Caller } from '../../mcp/caller.ts'
import type { Scope } from '../core/request-scope.ts'
import type { InputRounds } from '../input/request-state.ts'
import {
  type HandlerResult,
  type IncomingRequest,
  type NamedParams,
  whenReady,
} from '../request.ts'
import { type AccessRule, canHide, isHiddenFrom, requireScopes } from './access.ts'
import type { Cursors } from './pagination.ts'
import { isTranslated } from './translations.ts'

/** What features need from their endpoint. */
export interface FeatureHost {
  readonly rounds: InputRounds
  readonly cursors: Cursors
  /** Entries on one page of a list. */
  readonly pageSize: number
  /** Reports an error to the author, with the request that it is about, if any. */
  onError(error: unknown, request?: IncomingRequest): void
}

/** Updates, disables or removes what was registered. */
export interface Registration<T, Code = never> extends Disposable {
  /** The name under which it is registered. */
  readonly name: string
  /** Whether clients see it. */
  readonly isEnabled: boolean
  /**
   * Changes members of its definition, and its handler if one is given, and notifies subscribers. Throws a
   * TypeError, and changes nothing, for an invalid definition.
   */
  update(changes: Partial<T>, code?: Code): void
  /** Shows it to clients again after `disable`. */
  enable(): void
  /** Hides it from lists and rejects requests for it, as if it did not exist. */
  disable(): void
  /** Removes it permanently. */
  remove(): void
}

/** The members of definitions that decide which callers see and use an entry. */
export interface Hideable {
  visible?(caller: Caller, env: unknown): boolean
  readonly auth?: AccessRule
}

/** An entry under its key, which requests name. */
export interface FeatureEntry<T> {
  readonly key: string
  readonly value: T
  readonly definition: Hideable
  /** Where an entry comes from that is registered at a mounted server. */
  readonly mount?: { readonly scope: Scope; readonly inner: FeatureEntry<T> }
}

interface Slot<D, T> extends FeatureEntry<T> {
  /** Increases from one registration to the next, and is never used twice. */
  readonly position: number
  definition: D & Hideable
  value: T
  isEnabled: boolean
}

/** The entries that one caller sees, in the order of registration. */
export interface CallerView<T> {
  readonly items: readonly T[]
  /** Ascending. An entry keeps its position while others come and go. */
  readonly positions: readonly number[]
  /** Whether other callers may see other entries. */
  readonly isFiltered: boolean
  /** Whether texts of entries have translations, of which the caller sees one. */
  readonly isTranslated: boolean
}

/** How the entries of a mounted server appear. */
export interface MountRule<T> {
  readonly scope: Scope
  /** Returns the key under which an entry appears. */
  keyOf(key: string): string
  /** Returns the entry as it appears under its new key. */
  rename(value: T, key: string): T
}

/**
 * The registered entries of one kind, under unique keys and in the order of registration. Each entry is
 * made of its definition. Calls `onChange` on every change.
 */
export class FeatureSet<D extends object, T> {
  readonly #kind: string
  readonly #onChange: () => void
  readonly #onError: FeatureHost['onError']
  readonly #slots = new Map<string, Slot<D, T>>()
  /** Called with a key on every change of its entry, by the sets that show the entries of this one. */
  readonly #followers = new Set<(key: string) => void>()
  #all: CallerView<T> | undefined
  /** The number of entries that were ever registered. */
  #count = 0

  /** `kind` names the kind of entries in error messages. */
  constructor(kind: string, onChange: () => void, onError: FeatureHost['onError'] = () => {}) {
    this.#kind = kind
    this.#onChange = onChange
    this.#onError = onError
  }

  /** Whether anything was ever registered. Without that the server declares no capability. */
  get isUsed(): boolean {
    return this.#count > 0
  }

  /** Whether callers may see different entries, or different texts of them. */
  get isPersonal(): boolean {
    const { isFiltered, isTranslated } = this.#enabledView()
    return isFiltered || isTranslated
  }

  /** Whether a key is taken, even by an entry that is disabled. */
  has(key: string): boolean {
    return this.#slots.has(key)
  }

  /** Returns an enabled entry, even one that only some callers see. */
  get(key: string): T | undefined {
    const slot = this.#slots.get(key)
    return slot?.isEnabled ? slot.value : undefined
  }

  /** Finds an enabled entry that the caller of a request may see. */
  find(
    key: string,
    request: IncomingRequest,
  ): FeatureEntry<T> | undefined | Promise<FeatureEntry<T> | undefined> {
    const slot = this.#slots.get(key)
    if (slot === undefined || !slot.isEnabled) return undefined
    if (!isConditional(slot.definition)) return slot
    return whenReady(this.#isVisible(slot, request), isVisible => (isVisible ? slot : undefined))
  }

  /** The enabled entries for all callers together; the same array until something changes. */
  list(): readonly T[] {
    return this.#enabledView().items
  }

  /** The positions of the entries in `list()`. */
  positions(): readonly number[] {
    return this.#enabledView().positions
  }

  /** The enabled entries that the caller of a request may see. */
  view(request: IncomingRequest): CallerView<T> | Promise<CallerView<T>> {
    const all = this.#enabledView()
    if (!all.isFiltered) return all
    const slots = this.#enabled()
    const seen = slots.map(slot => this.#isVisible(slot, request))
    return seen.some(one => one instanceof Promise)
      ? Promise.all(seen).then(known =>
          viewOf(
            slots.filter((_, at) => known[at]),
            true,
          ),
        )
      : viewOf(
          slots.filter((_, at) => seen[at] === true),
          true,
        )
  }

  /**
   * Adds an entry. Throws a TypeError for a key that is taken. Calls `make` with the definition and the
   * code, and again on every update; where `make` throws, nothing changes.
   */
  add<Code>(
    key: string,
    name: string,
    definition: D & Hideable,
    make: (definition: D, code: Code) => T,
    code: Code,
  ): Registration<D, Code> {
    if (this.#slots.has(key)) throw new TypeError(`duplicate ${this.#kind} "${key}"`)
    const value = make(definition, code)
    const slot: Slot<D, T> = { key, position: this.#count++, definition, value, isEnabled: true }
    let current = code
    this.#slots.set(key, slot)
    this.#changed(key)
    const isHere = (): boolean => this.#slots.get(key) === slot
    const enable = (isEnabled: boolean): void => {
      if (slot.isEnabled === isEnabled || !isHere()) return
      slot.isEnabled = isEnabled
      this.#changed(key)
    }
    const remove = (): void => {
      if (!isHere()) return
      this.#slots.delete(key)
      this.#changed(key)
    }
    return {
      name,
      get isEnabled() {
        return slot.isEnabled
      },
      update: (changes, changedCode = current) => {
        const changed = { ...slot.definition, ...changes }
        slot.value = make(changed, changedCode)
        slot.definition = changed
        current = changedCode
        if (isHere()) this.#changed(key)
      },
      enable: () => enable(true),
      disable: () => enable(false),
      remove,
      [Symbol.dispose]: remove,
    }
  }

  /** Throws a TypeError if an entry of another set would appear under a key that is taken. */
  checkMount(other: FeatureSet<D, T>, keyOf: (key: string) => string): void {
    for (const key of other.#slots.keys()) {
      const taken = keyOf(key)
      if (this.#slots.has(taken)) throw new TypeError(`duplicate ${this.#kind} "${taken}"`)
    }
  }

  /**
   * Shows the entries of another set in this one, now and whenever they change. An entry whose key is taken
   * is reported and left out. Returns a function that removes them.
   */
  mount(other: FeatureSet<D, T>, rule: MountRule<T>): () => void {
    const follow = (innerKey: string): void => this.#follow(other, innerKey, rule)
    for (const key of other.#slots.keys()) follow(key)
    other.#followers.add(follow)
    return () => {
      other.#followers.delete(follow)
      for (const [key, { mount }] of this.#slots) {
        if (mount?.scope !== rule.scope) continue
        this.#slots.delete(key)
        this.#changed(key)
      }
    }
  }

  /** Copies the state of an entry of a mounted set. */
  #follow(other: FeatureSet<D, T>, innerKey: string, rule: MountRule<T>): void {
    const key = rule.keyOf(innerKey)
    const inner = other.#slots.get(innerKey)
    const known = this.#slots.get(key)
    const isOurs = known?.mount?.scope === rule.scope
    if (known !== undefined && !isOurs) {
      if (inner !== undefined) {
        this.#onError(
          new TypeError(`duplicate ${this.#kind} "${key}": the mounted one is left out`),
        )
      }
      return
    }
    if (inner === undefined) {
      this.#slots.delete(key)
    } else {
      const { definition, isEnabled } = inner
      const isSame = known?.mount?.inner === inner
      this.#slots.set(key, {
        key,
        position: isSame && known !== undefined ? known.position : this.#count++,
        definition,
        value: rule.rename(inner.value, key),
        isEnabled,
        mount: { scope: rule.scope, inner },
      })
    }
    this.#changed(key)
  }

  #isVisible(slot: Slot<D, T>, request: IncomingRequest): boolean | Promise<boolean> {
    const { visible, auth } = slot.definition
    if (auth !== undefined && isHiddenFrom(auth, request.caller.principal)) return false
    if (visible === undefined) return true
    return whenReady(enterMounts(slot, request), ({ caller, env }) => {
      try {
        const isVisible: unknown = visible(caller, env)
        if (typeof isVisible === 'boolean') return isVisible
        throw new TypeError(
          `${this.#kind} "${slot.key}": visible() must return true or false, at once`,
        )
      } catch (error) {
        this.#onError(error, request)
        return false
      }
    })
  }

  #enabled(): readonly Slot<D, T>[] {
    const enabled = Array.from(this.#slots.values()).filter(slot => slot.isEnabled)
    // An entry of a mounted server that was replaced keeps its place in the map, not its position.
    return enabled.sort((a, b) => a.position - b.position)
  }

  #enabledView(): CallerView<T> {
    if (this.#all === undefined) {
      const slots = this.#enabled()
      this.#all = viewOf(
        slots,
        slots.some(({ definition }) => isConditional(definition)),
      )
    }
    return this.#all
  }

  #changed(key: string): void {
    this.#all = undefined
    for (const follow of this.#followers) follow(key)
    this.#onChange()
  }
}

/** Returns the params of a request with another key in the place where they name an entry. */
export type Rename = (params: NamedParams, key: string) => NamedParams

/** Renames the entry of a request that has its key as the member `name`. */
export const byName: Rename = (params, name) => ({ ...params, name })

/**
 * Runs the handler of an entry, if the caller has the scopes that it needs: for an entry of a mounted server,
 * in the scope of that server and with the key that the entry has there.
 */
export function runEntry(
  { key, mount, definition }: FeatureEntry<unknown>,
  request: IncomingRequest,
  rename: Rename,
  handler: (request: IncomingRequest) => HandlerResult,
): HandlerResult {
  const { scopes } = definition.auth ?? {}
  if (scopes !== undefined) requireScopes(request.caller.principal, scopes)
  if (mount === undefined) return handler(request)
  const { scope, inner } = mount
  const isSame = inner.key === key
  const renamed = isSame ? request : { ...request, params: rename(request.params, inner.key) }
  return scope.run(renamed, entered => runEntry(inner, entered, rename, handler))
}

/** Returns a request with the environment of the mounted server that an entry is registered at. */
export function enterMounts(
  { mount }: FeatureEntry<unknown>,
  request: IncomingRequest,
): IncomingRequest | Promise<IncomingRequest> {
  if (mount === undefined) return request
  return whenReady(mount.scope.enter(request), entered => enterMounts(mount.inner, entered))
}

/** Whether an entry exists only for some callers. */
function isConditional({ visible, auth }: Hideable): boolean {
  return visible !== undefined || (auth !== undefined && canHide(auth))
}

function viewOf<D extends object, T>(
  slots: readonly Slot<D, T>[],
  isFiltered: boolean,
): CallerView<T> {
  return {
    items: slots.map(({ value }) => value),
    positions: slots.map(({ position }) => position),
    isFiltered,
    isTranslated: slots.some(({ definition }) => isTranslated(definition)),
  }
}
