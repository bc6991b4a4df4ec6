import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { AuthCache, ClientCertificate } from '../../../mcp/authenticator.ts'

const caches = new WeakMap<Duplex, AuthCache>()

/** Returns the object in which an authenticator remembers the last caller of a connection. */
export function authCacheOf(socket: Duplex): AuthCache {
  let cache = caches.get(socket)
  if (cache === undefined) {
    cache = {}
    caches.set(socket, cache)
  }
  return cache
}

const certificates = new WeakMap<TLSSocket, ClientCertificate>()

/** Returns the certificate that the client of a connection has presented, if it was verified. */
export function clientCertificate(socket: Duplex): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const known = certificates.get(socket)
  if (known !== undefined) return known
  const { fingerprint256, subjectaltname, subject } = socket.getPeerCertificate()
  if (fingerprint256 === undefined) return undefined
  const certificate: ClientCertificate = {
    sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
    names: alternativeNames(subjectaltname ?? ''),
    ...(subject?.CN !== undefined && { subject: `CN=${subject.CN}` }),
  }
  certificates.set(socket, certificate)
  return certificate
}

/** Splits the text of alternative names. Node quotes a name that contains a comma. */
export function alternativeNames(text: string): readonly string[] {
  const names = text.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? []
  return names.map(name => name.trim()).filter(name => name !== '')
}
