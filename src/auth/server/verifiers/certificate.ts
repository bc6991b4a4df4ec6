import type { Principal } from '../../../jsonrpc/channel.ts'
import type { ClientCertificate } from '../../../mcp/authenticator.ts'
import { checkOptions, type OptionTableOf } from '../../../util/options.ts'

/** The options of `certificate`. */
export interface CertificateOptions {
  /**
   * The header in which a proxy passes the certificate of the client on, such as `client-cert` (RFC 9440).
   * It is accepted only from the proxies in `trust`; by default only certificates of the connection count.
   */
  readonly header?: string
  /** Returns the principal of a certificate; by default its first URI, DNS name or e-mail address. */
  readonly principal?: (certificate: ClientCertificate) => Principal | undefined
}

/** Authenticates callers by the certificate that their connection presented. */
export interface CertificateVerifier {
  /** The header in which a proxy passes the certificate on; undefined if the connection has it. */
  readonly header: string | undefined
  /** Returns the principal of a certificate; undefined if it names nobody. */
  principalOf(certificate: ClientCertificate): Principal | undefined
}

const table: OptionTableOf<CertificateOptions> = { header: 'string', principal: 'function' }

/**
 * Authenticates callers by client certificates (mutual TLS): those that a connection verified, or those
 * that a trusted proxy passes on in a header.
 */
export function certificate(options: CertificateOptions = {}): CertificateVerifier {
  checkOptions(options, table)
  return {
    header: options.header?.toLowerCase(),
    principalOf: options.principal ?? principalByName,
  }
}

function principalByName({ names, sha256 }: ClientCertificate): Principal {
  const name = ['URI:', 'DNS:', 'email:'].flatMap(kind =>
    names.filter(one => one.startsWith(kind)).map(one => one.slice(kind.length)),
  )[0]
  return Object.freeze({ id: `cert:${name ?? sha256}`, subject: name ?? sha256, verifier: 'cert' })
}
