import type { IncomingMessage } from 'node:http'
import type { AuthRequest } from '../../../mcp/authenticator.ts'
import { headerValues } from '../../../util/origin.ts'
import { clientAddress } from '../../../util/sockets/client-address.ts'
import { clientCertificate } from './connection-auth.ts'

/** Returns the request of a WebSocket handshake as an authenticator sees it. */
export function upgradeRequest(
  request: IncomingMessage,
  isProxy: ((address: string) => boolean) | undefined,
): AuthRequest {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s, 2)
  const { remoteAddress } = request.socket
  return {
    method: request.method ?? 'GET',
    path,
    query,
    values: name => headerValues(request.rawHeaders, name),
    address: includesLocal =>
      clientAddress(remoteAddress, request.headers['x-forwarded-for']?.toString(), {
        isProxy,
        includesLocal,
      }),
    certificate: clientCertificate(request.socket),
  }
}
