import type { ConfigNode } from '../text.ts'
import type { Conversion } from './dialect.ts'
import { memberOf, objectNode, stringNode } from './nodes.ts'

/** Conversions of values. A value of an unexpected type is returned as it is, and the check of the field reports it. */
export const conversions: Readonly<Record<Conversion, (node: ConfigNode) => ConfigNode>> = {
  same: node => node,
  not: node => (node.type === 'boolean' ? { ...node, value: !node.value } : node),
  ms: node => duration(node, 1),
  seconds: node => duration(node, 1000),
  /** The name of a variable with a token becomes the header that carries the token. */
  bearer: node =>
    node.type === 'string'
      ? objectNode(node.at, [
          ['Authorization', memberOf(stringNode(node.at, `Bearer \${${node.value}}`))],
        ])
      : node,
  /** Names of variables become references to them. */
  references: node =>
    node.type === 'object'
      ? objectNode(
          node.at,
          Array.from(node.members, ([name, { at, value }]) => [
            name,
            {
              at,
              value: value.type === 'string' ? stringNode(value.at, `\${${value.value}}`) : value,
            },
          ]),
        )
      : node,
}

/** A day is the longest timeout; hosts write larger numbers for "never". */
const maxMs = 86_400_000

function duration(node: ConfigNode, factor: number): ConfigNode {
  if (node.type !== 'number' || !(node.value > 0)) return node
  return { ...node, value: Math.max(1, Math.min(maxMs, Math.round(node.value * factor))) }
}
