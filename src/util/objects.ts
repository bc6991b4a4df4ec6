/** Whether an untrusted value is an object with members: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the strings of an untrusted array; undefined if the value is not an array. */
export function stringsIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : undefined
}

/**
 * Returns the members that have a value: spreading an option that is undefined must not override a
 * default.
 */
export function defined<T extends object>(options: T | undefined): Partial<T> {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined)
  // The check: nothing but members of `options`.
  return Object.fromEntries(entries) as Partial<T>
}

/**
 * Sets a member whose name comes from outside. An assignment by index would replace the prototype of the
 * object if the name is `__proto__`; here that is a member like any other.
 */
export function setMember(to: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') to[name] = value
  else {
    Object.defineProperty(to, name, { value, enumerable: true, writable: true, configurable: true })
  }
}

/** Returns a member that a value has itself; undefined for inherited ones, and for other values than objects. */
export function ownMember(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * Returns the member of that name; if there is none, the member that a path of names leads to, with dots between them:
 * `realm_access.roles`. Undefined if there is neither.
 */
export function memberAt(value: unknown, path: string): unknown {
  const direct = ownMember(value, path)
  return direct === undefined
    ? path.split('.').reduce<unknown>((found, name) => ownMember(found, name), value)
    : direct
}

/** Copies the members that an object has itself, whatever their names are. */
export function assignMembers(to: Record<string, unknown>, from: object): void {
  if (!Object.hasOwn(from, '__proto__')) Object.assign(to, from)
  else for (const [name, value] of Object.entries(from)) setMember(to, name, value)
}

/** Returns a copy of an object with the members that it has itself, without those in `omitted`. */
export function copyWithout(from: object, omitted: ReadonlySet<string>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  // A loop, because leaving members out of a spread costs as much as the rest of forwarding a call.
  for (const name in from) {
    if (omitted.has(name) || !Object.hasOwn(from, name)) continue
    // The check: the name is a member of the object.
    setMember(copy, name, (from as Record<string, unknown>)[name])
  }
  return copy
}

/**
 * Freezes a JSON value with everything in it, in place, and returns it: for values that several
 * messages share, so that none of them can change the others.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) deepFrozen.add(value)
  return freeze(value)
}

/**
 * Returns a deeply frozen copy, as the value would arrive on a wire. Throws a TypeError if it is no
 * JSON.
 */
export function frozenCopy<T extends object>(value: T): T {
  return deepFreeze(JSON.parse(JSON.stringify(value)))
}

/** Whether the object was frozen by `deepFreeze`, so that anything computed from it stays valid. */
export function isDeepFrozen(value: object): boolean {
  return deepFrozen.has(value)
}

const deepFrozen = new WeakSet<object>()

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
