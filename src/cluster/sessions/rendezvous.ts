/**
 * Chooses the node that takes an item, the same on every node that knows the same nodes (rendezvous hashing): if a
 * node leaves, only its items get another node.
 */
export function chosenNode(item: string, nodes: readonly string[]): string | undefined {
  let chosen: string | undefined
  let greatest = -1
  for (const node of nodes) {
    const weight = hash(item + node)
    if (weight < greatest || (weight === greatest && chosen !== undefined && node > chosen))
      continue
    greatest = weight
    chosen = node
  }
  return chosen
}

/** FNV-1a with a final mix, because texts that differ in the last digit only have similar hashes without it. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
