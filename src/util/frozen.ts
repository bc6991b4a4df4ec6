/**
 * Freezes a value of JSON and whatever it holds, and gives it back: for what several messages share, so
 * that none of them can change what the others say.
 */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) constants.add(value)
  return freeze(value)
}

/** A frozen copy, as it would arrive on a wire. Throws a TypeError for what is no JSON. */
export function frozenCopy<T extends object>(value: T): T {
  return frozen(JSON.parse(JSON.stringify(value)))
}

/** Whether an object was frozen here: what was once found out about it holds for good. */
export function isConstant(value: object): boolean {
  return constants.has(value)
}

const constants = new WeakSet<object>()

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
