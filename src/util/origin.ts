/** What a request over HTTP says about where it comes from. */
export interface Asked {
  /** Every `Host` header, in order; a second one is a reason to refuse. */
  readonly hosts: readonly string[]
  /** Every `Origin` header, in order. */
  readonly origins: readonly string[]
  /** The request target as it stood in the request line. */
  readonly target: string
  /** What a browser says of the page that asks, in `Sec-Fetch-Site`; programs say nothing. */
  readonly site?: string
}

/** Whom a listener over HTTP answers. */
export interface Gate {
  /** The port really bound. */
  readonly port: number
  /** Whether it was reached at an address of this machine alone; then `Host` must name this machine. */
  readonly loopback: boolean
  /** Further `Host` values, as browsers send them: `api.example.com`, `api.example.com:8443`. */
  readonly allowedHosts?: readonly string[]
  /** Further `Origin` values, as browsers send them: `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
}

/**
 * Says in words why a request must be refused with 403 before anything else of it is looked at, or
 * undefined when it may pass.
 *
 * A web page can make a browser connect to this machine under a name of its own (DNS rebinding).
 * Two headers give it away, and a page cannot forge either of them: `Host` then carries that name,
 * and `Origin` the page's. Programs that are no browser send no `Origin`, which passes.
 */
export function originRefusal(asked: Asked, gate: Gate): string | undefined {
  // The absolute form names a second host, and which of the two counts is left to each reader.
  if (!asked.target.startsWith('/')) return 'the request target is not a path'
  const [host, ...moreHosts] = asked.hosts
  if (host === undefined || moreHosts.length > 0) return 'not exactly one Host header'
  if (!hostAllowed(host, gate)) return `the host ${host} is not this server`
  if (asked.origins.length > 1) return 'more than one Origin header'
  const [origin] = asked.origins
  if (origin !== undefined && !originAllowed(origin, gate)) {
    return `the origin ${origin} is not allowed`
  }
  // A page whose origin was let in by name may be of another site: that is what the list is for.
  if (origin === undefined && asked.site === 'cross-site') {
    return 'requests from pages of other sites are refused'
  }
  return undefined
}

/** The values of one header, each occurrence apart, from Node's list of alternating names and values. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  // Not from the parsed headers: those keep the first Host and drop the others without a word.
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const header = rawHeaders[at]
    // By length first, because every request over HTTP comes through here.
    if (header?.length !== name.length || header.toLowerCase() !== name) continue
    values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}

/** Whether a host to bind, or one really bound, can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i.test(host)
}

/**
 * Where a connection came in, whatever its listener is bound to: bound to every address, a server is
 * reached at 127.0.0.1 by programs of its own machine alone, and so by a page that has found a name for it.
 */
export function reachedAt(connection: {
  readonly localAddress?: string
  readonly localPort?: number
}): Pick<Gate, 'port' | 'loopback'> {
  // A socket file has neither, and no browser can be made to connect to one.
  const { localAddress = '', localPort = 0 } = connection
  return { port: localPort, loopback: localAddress === '127.0.0.1' || isLoopback(localAddress) }
}

function hostAllowed(host: string, gate: Gate): boolean {
  if (listed(gate.allowedHosts, host)) return true
  if (gate.loopback) return isThisMachine(host, gate.port)
  // Reached from the network, a server cannot know its own names; only a written list limits them.
  return gate.allowedHosts === undefined
}

function originAllowed(origin: string, gate: Gate): boolean {
  if (listed(gate.allowedOrigins, origin)) return true
  const scheme = 'http://'
  return (
    gate.loopback &&
    origin.startsWith(scheme) &&
    isThisMachine(origin.slice(scheme.length), gate.port)
  )
}

function isThisMachine(authority: string, port: number): boolean {
  // Anchored and without a trailing dot, so that neither "localhost.evil.test" nor "me@localhost"
  // nor "localhost." passes.
  const match = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::([1-9]\d{0,4}))?$/i.exec(authority)
  return match !== null && Number(match[1] ?? 80) === port
}

function listed(list: readonly string[] | undefined, value: string): boolean {
  return list?.some(entry => entry.toLowerCase() === value.toLowerCase()) ?? false
}
