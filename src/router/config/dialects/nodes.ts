import type { ConfigPath, Position } from '../issue.ts'
import type { ConfigNode, Member, ObjectNode } from '../text.ts'

/** Returns an object with these members, at a position. */
export function objectNode(at: Position, members: Iterable<readonly [string, Member]>): ObjectNode {
  return { type: 'object', at, members: new Map(members) }
}

/** Returns a string at a position. */
export function stringNode(at: Position, value: string): ConfigNode {
  return { type: 'string', at, value }
}

/** Returns a boolean at a position. */
export function booleanNode(at: Position, value: boolean): ConfigNode {
  return { type: 'boolean', at, value }
}

/** Returns a member at the position of its value. */
export function memberOf(value: ConfigNode): Member {
  return { at: value.at, value }
}

/** Whether a value is an object. */
export function isObject(node: ConfigNode | undefined): node is ObjectNode {
  return node?.type === 'object'
}

/** Returns the strings of a list; none if the value is not a list. */
export function stringsOf(node: ConfigNode | undefined): readonly string[] {
  if (node?.type !== 'list') return []
  return node.items.flatMap(item => (item.type === 'string' ? [item.value] : []))
}

/**
 * Returns the value at a path. Settings files may join names with dots, so `a.b` is found as `b` in `a` and as
 * the member `a.b`.
 */
export function valueAt(node: ConfigNode | undefined, path: ConfigPath): ConfigNode | undefined {
  const [first, ...rest] = path
  if (first === undefined) return node
  if (!isObject(node)) return undefined
  const found = valueAt(node.members.get(String(first))?.value, rest)
  if (found !== undefined || rest.length === 0) return found
  return node.members.get(path.join('.'))?.value
}

/** Returns a value with every string in it replaced. */
export function mapStrings(node: ConfigNode, replace: (text: string) => string): ConfigNode {
  switch (node.type) {
    case 'string':
      return { ...node, value: replace(node.value) }
    case 'list':
      return { ...node, items: node.items.map(item => mapStrings(item, replace)) }
    case 'object':
      return objectNode(
        node.at,
        Array.from(node.members, ([key, { at, value }]) => [
          key,
          { at, value: mapStrings(value, replace) },
        ]),
      )
    default:
      return node
  }
}

/** Whether a member is a comment in a format that has none: `"//": …`, `"_comment": …`. */
export function isComment(key: string): boolean {
  return /^(?:\/\/|#)|^[_$]+(?:comment|note|readme|doc|description|todo)/i.test(key)
}
