import { type Handler, type Method, methods } from './jsonrpc/handler.ts'
import type { Answers } from './protocol.ts'
import { isRecord } from './util/objects.ts'
import { formatValue } from './util/options.ts'

/** Returns the handler for some answers. Throws a TypeError that names a value that is not a function. */
export function handlerOf(answers: Answers): Handler {
  // The check: every function counts as a handler; nothing distinguishes one from another.
  if (typeof answers === 'function') return answers as Handler
  if (!isRecord(answers)) {
    throw new TypeError(
      `expected a handler function or an object of functions, got ${formatValue(answers)}`,
    )
  }
  const found = isPlain(answers) ? Object.entries(answers) : membersOf(answers)
  return methods(
    Object.fromEntries(found.map(([name, value]) => [name, bound(answers, name, value)])),
  )
}

type Member = readonly [name: string, value: unknown]

function bound(owner: object, name: string, value: unknown): Method {
  if (typeof value === 'function') return value.bind(owner)
  throw new TypeError(`method ${formatValue(name)} must be a function (got ${formatValue(value)})`)
}

function isPlain(table: object): boolean {
  const parent: unknown = Object.getPrototypeOf(table)
  // Not a comparison with Object.prototype, because other realms, such as sandboxes, have their own.
  return parent === null || Object.getPrototypeOf(parent) === null
}

/** Returns the functions of an instance: its own and those of its class. */
function membersOf(instance: object): Member[] {
  const parent: object = Object.getPrototypeOf(instance)
  // Inherited methods are rarely meant for the peer, such as `emit` of an event emitter.
  if (!isPlain(parent)) {
    const what = `an instance of ${parent.constructor.name}, which extends another class,`
    throw new TypeError(
      `${what} does not say which methods may be called; pass an object of functions instead`,
    )
  }
  const members: Member[] = []
  for (const each of [parent, instance]) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(each))) {
      if (typeof value === 'function' && name !== 'constructor') members.push([name, value])
    }
  }
  return members
}
