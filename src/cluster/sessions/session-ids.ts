import { randomHex } from '../../util/random.ts'

/** The number of hexadecimal digits of the id of a node. */
const nodeDigits = 16

/** Makes the id of a node: random, so that a process that restarts is another node. */
export function newNodeId(): string {
  return randomHex(nodeDigits / 2)
}

/**
 * Makes the id of a session that a node opens. It begins with the id of the node, so that every node finds the owner
 * without looking it up.
 */
export function newSessionId(node: string, rest: () => string = randomBits): string {
  return node + rest()
}

/** Returns the node that opened a session; undefined for an id that no node of a cluster has made. */
export function originNodeOf(session: string): string | undefined {
  return idPattern.exec(session)?.[1]
}

const idPattern = /^([0-9a-f]{16})[\x21-\x7e]{1,240}$/

/** 192 random bits, which cannot be guessed. */
function randomBits(): string {
  return randomHex(24)
}
