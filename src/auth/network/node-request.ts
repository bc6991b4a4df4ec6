import { lookup as resolve } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { GuardedRequest, NetworkOptions, SendGuardedRequest } from './guarded-request.ts'
import type { NetworkResponse } from './network.ts'

/**
 * Sends a request over a connection of its own. Every address that the host name resolves to is checked, and the
 * connection goes to one of those that were checked, so that a name cannot change its meaning in between.
 */
export const sendByNode: SendGuardedRequest = (request, options) =>
  new Promise((done, fail) => {
    const { url, method, headers, body, signal } = request
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const outgoing = send(url, {
      method,
      headers,
      signal,
      agent: false,
      lookup: checkedLookup(request, options),
      // Regardless of the environment (`NODE_TLS_REJECT_UNAUTHORIZED`).
      rejectUnauthorized: true,
      ...(options.ca !== undefined && { ca: options.ca }),
    })
    outgoing.on('error', fail)
    outgoing.on('response', response => {
      readAll(response, request).then(done, fail)
    })
    outgoing.end(body)
  })

/** Makes the function by which a connection finds the addresses of a host name. */
function checkedLookup(
  { checkAddress }: GuardedRequest,
  { lookup = lookUpAll }: NetworkOptions,
): LookupFunction {
  return (host, options, callback) => {
    const found = async () => {
      const addresses = await lookup(host)
      if (addresses.length === 0) throw new Error(`${host} has no address`)
      // All of them: which one is connected to is not decided here.
      for (const address of addresses) checkAddress(address)
      return addresses.map(address => ({ address, family: isIP(address) }))
    }
    found().then(
      all => {
        const [first] = all
        if (options.all === true) callback(null, all)
        else callback(null, first?.address ?? '', first?.family)
      },
      // The check: everything that is thrown in `found` is an Error.
      error => callback(error as Error, []),
    )
  }
}

async function lookUpAll(host: string): Promise<readonly string[]> {
  const found = await resolve(host, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

async function readAll(
  response: IncomingMessage,
  { maxBytes }: GuardedRequest,
): Promise<NetworkResponse> {
  const { statusCode: status = 0, headersDistinct, socket } = response
  const address = socket.remoteAddress
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value)
  }
  if (maxBytes === 0) {
    response.destroy()
    return { status, headers, text: '', address }
  }
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of response) {
    // The check: no encoding is set, so the stream yields buffers.
    const bytes = piece as Buffer
    size += bytes.length
    if (size > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`)
    pieces.push(bytes)
  }
  return { status, headers, text: Buffer.concat(pieces).toString('utf8'), address }
}
