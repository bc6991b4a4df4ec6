import type { Principal } from '../../../jsonrpc/channel.ts'
import type { ClientCertificate } from '../../../mcp/authenticator.ts'
import { checkOptions, type OptionTableOf } from '../../../util/options.ts'

/** The options of `certificate`. */
export interface CertificateOptions {
  /** Returns the principal of a certificate; by default its first URI, DNS name or e-mail address. */
  readonly principal?: (certificate: ClientCertificate) => Principal | undefined
}

/** Authenticates callers by the certificate that their connection presented. */
export interface CertificateVerifier {
  /** Returns the principal of a certificate; undefined if it names nobody. */
  principalOf(certificate: ClientCertificate): Principal | undefined
}

const table: OptionTableOf<CertificateOptions> = { principal: 'function' }

/**
 * Authenticates callers by client certificates (mutual TLS) that the TLS server of the application has
 * verified: create it with `requestCert` and mount `nodeHandler`. Headers are never trusted for this.
 */
export function certificate(options: CertificateOptions = {}): CertificateVerifier {
  checkOptions(options, table)
  return { principalOf: options.principal ?? principalByName }
}

function principalByName({ names, sha256 }: ClientCertificate): Principal {
  const name = ['URI:', 'DNS:', 'email:'].flatMap(kind =>
    names.filter(one => one.startsWith(kind)).map(one => one.slice(kind.length)),
  )[0]
  return Object.freeze({ id: `cert:${name ?? sha256}`, subject: name ?? sha256, verifier: 'cert' })
}
