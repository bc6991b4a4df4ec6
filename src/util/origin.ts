/** The parts of an HTTP request that show its origin. */
export interface RequestOrigin {
  /** Every `Host` header, in order; a second one is rejected. */
  readonly hosts: readonly string[]
  /** Every `Origin` header, in order. */
  readonly origins: readonly string[]
  /** The request target as in the request line. */
  readonly target: string
  /** The header `Sec-Fetch-Site` of browsers; other clients do not send it. */
  readonly site?: string
}

/** The origins that an HTTP listener accepts. */
export interface OriginPolicy {
  /** The bound port. */
  readonly port: number
  /** Whether the request came in on a loopback address; then `Host` must name this machine. */
  readonly loopback: boolean
  /**
   * Further accepted `Host` values, as browsers send them: `api.example.com`, `api.example.com:8443`.
   */
  readonly allowedHosts?: readonly string[]
  /** Further accepted `Origin` values, as browsers send them: `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
}

/**
 * Returns the reason why a request must be rejected with 403 before anything else of it is read, or
 * undefined if it is accepted.
 *
 * A web page can make a browser connect to this machine under a name of its own (DNS rebinding). Two
 * headers reveal that, and a page cannot forge either: `Host` then contains that name, and `Origin`
 * that of the page. Clients that are not browsers send no `Origin`, which is accepted.
 */
export function originRefusal(request: RequestOrigin, policy: OriginPolicy): string | undefined {
  // The absolute form contains a second host, and implementations differ in which of the two counts.
  if (!request.target.startsWith('/')) return 'the request target is not a path'
  const [host, ...moreHosts] = request.hosts
  if (host === undefined || moreHosts.length > 0) return 'not exactly one Host header'
  if (!hostAllowed(host, policy)) return `the host ${host} is not this server`
  if (request.origins.length > 1) return 'more than one Origin header'
  const [origin] = request.origins
  if (origin !== undefined && !originAllowed(origin, policy)) {
    return `the origin ${origin} is not allowed`
  }
  // A page whose origin is in the list may be cross-site: that is the purpose of the list.
  if (origin === undefined && request.site === 'cross-site') {
    return 'cross-site requests are refused'
  }
  return undefined
}

/** Returns every value of a header from Node's list of alternating names and values. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  // Not from the parsed headers: those keep the first Host and silently drop the others.
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const header = rawHeaders[at]
    // Compares the length first, because this runs for every HTTP request.
    if (header?.length !== name.length || header.toLowerCase() !== name) continue
    values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}

/** Whether a host can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i.test(host)
}

/**
 * Returns the local port and address kind of a connection, which its listener does not determine: on a
 * server that is bound to every address, 127.0.0.1 is reached only from its own machine, and so by a
 * page that uses DNS rebinding.
 */
export function reachedAt(connection: {
  readonly localAddress?: string
  readonly localPort?: number
}): Pick<OriginPolicy, 'port' | 'loopback'> {
  // A Unix socket has neither, and no browser can connect to one.
  const { localAddress = '', localPort = 0 } = connection
  return { port: localPort, loopback: localAddress === '127.0.0.1' || isLoopback(localAddress) }
}

function hostAllowed(host: string, policy: OriginPolicy): boolean {
  if (listed(policy.allowedHosts, host)) return true
  if (policy.loopback) return isThisMachine(host, policy.port)
  // A server that is reached from the network cannot know its own names; only an explicit list limits
  // them.
  return policy.allowedHosts === undefined
}

function originAllowed(origin: string, policy: OriginPolicy): boolean {
  if (listed(policy.allowedOrigins, origin)) return true
  const scheme = 'http://'
  return (
    policy.loopback &&
    origin.startsWith(scheme) &&
    isThisMachine(origin.slice(scheme.length), policy.port)
  )
}

function isThisMachine(authority: string, port: number): boolean {
  // Anchored and without a trailing dot, so that neither "localhost.evil.test" nor "me@localhost" nor
  // "localhost." is accepted.
  const match = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::([1-9]\d{0,4}))?$/i.exec(authority)
  return match !== null && Number(match[1] ?? 80) === port
}

function listed(list: readonly string[] | undefined, value: string): boolean {
  return list?.some(entry => entry.toLowerCase() === value.toLowerCase()) ?? false
}
