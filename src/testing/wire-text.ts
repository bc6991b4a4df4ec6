import type { Names } from './match.ts'
import { type ObjectShape, printShape, type Shape, scalar } from './shape.ts'

const version = scalar('2.0')

/** Adds the member `jsonrpc`, which transcripts omit, to a message or to each message of a batch. */
export function withVersion(shape: Shape): Shape {
  return eachMessage(shape, message =>
    message.members.has('jsonrpc')
      ? message
      : { ...message, members: new Map([['jsonrpc', version], ...message.members]) },
  )
}

/** Removes the member `jsonrpc` from a message or from each message of a batch, if it is "2.0". */
export function withoutVersion(shape: Shape): Shape {
  return eachMessage(shape, message => {
    const found = message.members.get('jsonrpc')
    if (found?.kind !== 'scalar' || found.value !== '2.0') return message
    const members = new Map(message.members)
    members.delete('jsonrpc')
    return { ...message, members }
  })
}

/**
 * Returns the text of a message to send: with names replaced by their values, with `jsonrpc`, and in
 * requests with the members of `meta` that they do not have. Throws a TypeError for an unbound name,
 * and for a shape with placeholders.
 */
export function wireText(shape: Shape, names: Names, meta: ObjectShape | undefined): string {
  const message = meta === undefined ? shape : eachMessage(shape, found => withMeta(found, meta))
  return printShape(resolve(withVersion(message), names))
}

function eachMessage(shape: Shape, change: (message: ObjectShape) => ObjectShape): Shape {
  if (shape.kind === 'object') return change(shape)
  if (shape.kind !== 'array') return shape
  return {
    ...shape,
    items: shape.items.map(item => (item.kind === 'object' ? change(item) : item)),
  }
}

function withMeta(message: ObjectShape, meta: ObjectShape): ObjectShape {
  const { members } = message
  if (!members.has('method') || !members.has('id')) return message
  const params = members.get('params') ?? object([])
  // Requests with params or `_meta` that are not objects are so on purpose.
  if (params.kind !== 'object') return message
  const own = params.members.get('_meta') ?? object([])
  if (own.kind !== 'object') return message
  const all = object([...meta.members, ...own.members])
  const changed = object([...params.members, ['_meta', all]])
  return { ...message, members: new Map([...members, ['params', changed]]) }
}

function object(members: Iterable<readonly [string, Shape]>): ObjectShape {
  return { kind: 'object', members: new Map(members), isOpen: false }
}

function resolve(shape: Shape, names: Names): Shape {
  switch (shape.kind) {
    case 'scalar':
      return shape
    case 'gaps':
      // Sent messages have no placeholders: here the ellipsis is an ordinary character.
      return scalar(shape.parts.join('…'))
    case 'anything':
      throw new TypeError('a message to send must not contain placeholders')
    case 'name': {
      const known = names.get(shape.name)
      if (known === undefined) throw new TypeError(`the name $${shape.name} has no value yet`)
      return known
    }
    case 'array':
      if (shape.isOpen) throw new TypeError('a message to send must not contain placeholders')
      return { ...shape, items: shape.items.map(item => resolve(item, names)) }
    case 'object': {
      if (shape.isOpen) throw new TypeError('a message to send must not contain placeholders')
      const members = Array.from(shape.members, ([name, member]): [string, Shape] => [
        name,
        resolve(member, names),
      ])
      return { ...shape, members: new Map(members) }
    }
  }
}
