/**
 * The same letters as a string of its own. What is cut out of a text keeps all of that text alive for as
 * long as it lives itself: for an id or a name that may be long, and the text be that of many messages.
 */
export function ownText(cut: string): string {
  // What is shorter is copied in any case. Joined with something and cut again it shares with nobody.
  return cut.length < SHORTEST_SHARED ? cut : ` ${cut}`.slice(1)
}

/**
 * The same for names, which repeat: taking the known one spares hashing it again at every table it is
 * looked up in.
 */
export function knownText(cut: string): string {
  const { length } = cut
  if (length > LONGEST_KNOWN) return ownText(cut)
  // A slot for names that look alike is enough: whoever comes last has it.
  const slot = (length + cut.charCodeAt(length - 1)) & (SLOTS - 1)
  const known = names[slot]
  if (known === cut) return known
  const name = ownText(cut)
  names[slot] = name
  return name
}

const SHORTEST_SHARED = 13
const LONGEST_KNOWN = 256
const SLOTS = 64
const names: string[] = new Array(SLOTS).fill('')
