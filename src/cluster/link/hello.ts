import { isRecord } from '../../util/objects.ts'
import type { LinkSettings } from './settings.ts'

/** The version of the link protocol that this node speaks, and the oldest one that it understands. */
const ownVersion = 1
const oldestVersion = 1

/** Every node accepts frames of this size, so that a reason always fits. */
const minFrameBytes = 1024

/** The first frame of each side of a link, as JSON. Further members, of later versions, are ignored. */
export interface Hello {
  /** The version of the protocol that the sender speaks. */
  readonly version: number
  /** The oldest version that the sender understands. */
  readonly oldest: number
  readonly cluster: string
  readonly node: string
  /** The node that the sender wants to reach. */
  readonly to: string
  /** The bytes that may be sent on each stream before more credit comes. */
  readonly credit: number
  /** The largest payload of a frame that the sender accepts. */
  readonly frame: number
  /** The streams and requests in flight that the sender accepts. */
  readonly streams: number
}

/** Returns the text of a HELLO frame to a node. */
export function writeHello({ node, cluster, limits }: LinkSettings, to: string): string {
  const hello: Hello = {
    version: ownVersion,
    oldest: oldestVersion,
    cluster,
    node,
    to,
    credit: limits.creditBytes,
    frame: limits.frameBytes,
    streams: limits.streams,
  }
  return JSON.stringify(hello)
}

/**
 * Reads the HELLO frame of another node. Returns a reason to refuse the link, as one line, if the frame is malformed or
 * the two nodes do not fit together. `expected` is the node that was dialled, if this side has dialled.
 */
export function readHello(
  text: string,
  { node, cluster }: LinkSettings,
  expected?: string,
): Hello | string {
  const hello = parsed(text)
  if (hello === undefined) return 'the first frame is not a valid HELLO'
  if (hello.oldest > ownVersion) {
    return `version ${hello.version} of the link protocol is not supported, node ${node} speaks version ${ownVersion}: update Trunkline on node ${node}`
  }
  if (hello.version < oldestVersion) {
    return `version ${hello.version} of the link protocol is too old for node ${node}, which needs ${oldestVersion}: update Trunkline on node ${hello.node}`
  }
  if (hello.cluster !== cluster) {
    // As JSON, so that a name with line breaks stays in one line.
    const [here, there] = [JSON.stringify(cluster), JSON.stringify(hello.cluster)]
    return `the cluster is ${here} on node ${node} and ${there} on node ${hello.node}`
  }
  if (expected !== undefined && hello.node !== expected) {
    return `node ${hello.node} answers there instead of node ${expected}`
  }
  if (hello.to !== node) return `node ${hello.to} was expected here, this is node ${node}`
  return hello
}

function parsed(text: string): Hello | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { version, oldest, cluster, node, to, credit, frame, streams } = value
  if (!isCount(version) || !isCount(oldest) || oldest > version) return undefined
  if (typeof cluster !== 'string' || !isNodeId(node) || !isNodeId(to)) return undefined
  if (!isCount(credit) || !isCount(streams)) return undefined
  if (!isCount(frame) || frame < minFrameBytes) return undefined
  return { version, oldest, cluster, node, to, credit, frame, streams }
}

/** Returns whether a value is the id of a node: 16 hexadecimal digits. */
export function isNodeId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{16}$/.test(value)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 0xffffffff
}
