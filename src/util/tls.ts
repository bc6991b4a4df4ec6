/**
 * Whether an error of a TLS handshake means that the server answered in plain text. The messages of OpenSSL do not
 * say so, but its codes do.
 */
export function isPlainAnswer(code: string, message: string): boolean {
  return (
    /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/.test(code) ||
    /SSL routines:.*(?:wrong version number|packet length too long)/.test(message)
  )
}
