import { hostname, networkInterfaces } from 'node:os'

/** Returns a name for this process, for people: the name of the host and the number of the process. */
export function processName(): string {
  return `${hostname()}-${process.pid}`
}

/**
 * Returns the address at which other machines reach this one, as far as its network interfaces tell; a loopback
 * address where they tell none.
 */
export function hostAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  const reachable = all.filter(({ internal }) => !internal)
  const chosen = reachable.find(({ family }) => family === 'IPv4') ?? reachable[0]
  if (chosen === undefined) return '127.0.0.1'
  return chosen.family === 'IPv6' ? `[${chosen.address}]` : chosen.address
}
