import { hkdfSync } from 'node:crypto'
import type { PSKCallbackNegotation } from 'node:tls'

/** The bytes that a secret must have at least. */
export const minSecretBytes = 32

/** A pre-shared key, and the name under which a client presents it. */
export interface PskKey {
  readonly identity: string
  readonly psk: Uint8Array
}

/**
 * Derives the key from a secret, with HKDF-SHA256. `purpose` separates it from other keys of the same secret. Throws
 * a RangeError if the secret is too short.
 */
export function pskKey(secret: string, identity: string, purpose: string): PskKey {
  const bytes = Buffer.byteLength(secret)
  if (bytes < minSecretBytes) {
    throw new RangeError(
      `the secret has ${bytes} bytes; at least ${minSecretBytes} are needed, for example from "openssl rand -hex 32"`,
    )
  }
  return { identity, psk: new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32)) }
}

const certificateReason = 'it presented a certificate instead of a pre-shared key'

/** The TLS options that both sides share. */
const shared = {
  minVersion: 'TLSv1.3',
  // The hash of the suite must be the one that external keys are bound to by default.
  ciphers: 'TLS_AES_128_GCM_SHA256:PSK',
} as const

/**
 * Returns the TLS options of a server. It has no certificate, so a client without the key cannot complete the
 * handshake. The identity is not compared, so that the protocol above can tell a wrong name from a wrong secret.
 */
export function pskServerOptions(key: PskKey) {
  return { ...shared, pskCallback: () => key.psk }
}

/** Returns the TLS options of a client. A server that presents a certificate instead of the key is refused. */
export function pskClientOptions(key: PskKey) {
  return {
    ...shared,
    // No authority is trusted, and so no certificate.
    ca: [],
    // Called only for a server with a certificate: Node takes a pre-shared key for a resumed session.
    checkServerIdentity: () => new Error(certificateReason),
    pskCallback: (): PSKCallbackNegotation => ({ psk: key.psk, identity: key.identity }),
  }
}
