import { isPlainAnswer } from '../../util/tls.ts'
import { systemCode } from '../listener.ts'

const otherSecret = 'its secret is not the same as the secret here'

/** Returns the reason why a connection to a server failed, as one line. */
export function connectFailure(error: Error): string {
  const code = systemCode(error) ?? ''
  if (isPlainAnswer(code, error.message)) return 'it does not speak TLS'
  // Versions of OpenSSL send different alerts for a wrong key.
  if (/ALERT_(?:DECRYPT_ERROR|ILLEGAL_PARAMETER)$/.test(code)) return otherSecret
  if (/ALERT_HANDSHAKE_FAILURE$/.test(code) || code === 'ERR_TLS_CERT_ALTNAME_INVALID') return noKey
  if (certificateErrors.has(code)) return noKey
  return reasons.get(code) ?? oneLine(error.message)
}

/** Returns the reason why a server refused a client in the handshake, as one line. */
export function handshakeFailure(error: Error): string {
  const code = systemCode(error) ?? ''
  if (code === 'ERR_SSL_BINDER_DOES_NOT_VERIFY') return otherSecret
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'it did not complete the TLS handshake in time'
  if (code === 'ECONNRESET') return 'it closed the connection during the TLS handshake'
  if (/^ERR_SSL_(?:NO_SUITABLE_SIGNATURE_ALGORITHM|NO_SHARED_CIPHER)$/.test(code)) {
    return 'it presented no pre-shared key'
  }
  if (/^ERR_SSL_(?:WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH_TOO_LONG)$/.test(code)) {
    return 'it does not speak TLS'
  }
  return oneLine(error.message)
}

/** Returns a message of OpenSSL or the system as one line. */
function oneLine(message: string): string {
  return message.replace(/\s+/g, ' ').trim()
}

const noKey = 'it does not accept a pre-shared key'

const certificateErrors = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

const reasons = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOENT', 'no such file'],
  ['ENOTFOUND', 'no such host'],
  ['EACCES', 'no permission'],
  ['ETIMEDOUT', 'no answer'],
  ['ECONNRESET', 'it closed the connection'],
  ['EPIPE', 'it closed the connection'],
])
