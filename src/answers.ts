import { type Handler, type Method, methods } from './jsonrpc/handler.ts'
import type { Answers } from './protocol.ts'
import { shown } from './util/options.ts'
import { isRecord } from './util/record.ts'

/** The handler of some answers. Throws a TypeError that names what can answer nothing. */
export function handlerOf(answers: Answers): Handler {
  // The check: a function is taken for a handler; there is nothing to tell another one by.
  if (typeof answers === 'function') return answers as Handler
  if (!isRecord(answers)) {
    throw new TypeError(
      `what answers is a function or an object of functions, not ${shown(answers)}`,
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
  throw new TypeError(`the method ${shown(name)} is no function but ${shown(value)}`)
}

function isPlain(table: object): boolean {
  const parent: unknown = Object.getPrototypeOf(table)
  // That of another realm, such as a test's sandbox, is a different object of the same form.
  return parent === null || Object.getPrototypeOf(parent) === null
}

/** The functions of an instance: its own and those of its class. */
function membersOf(instance: object): Member[] {
  const parent: object = Object.getPrototypeOf(instance)
  // What a class inherits is rarely meant for the other side: think of an event emitter's `emit`.
  if (!isPlain(parent)) {
    const what = `an instance of ${parent.constructor.name}, which extends another class`
    throw new TypeError(
      `${what}, does not tell which methods to answer: write an object of functions`,
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
