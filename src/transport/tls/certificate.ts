import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SecureContextOptions } from 'node:tls'
import { errorMessage } from '../../util/text/error-message.ts'

/** The certificate of a listener: each of the two as PEM text or as the path of a PEM file. */
export interface TlsOptions {
  /** The certificate, followed by those of intermediate authorities, if any. */
  readonly cert: string
  /** The private key of the certificate. */
  readonly key: string
  /** The passphrase of the private key, if it is encrypted. */
  readonly passphrase?: string
}

/** A certificate that a server can use. */
export interface Certificate {
  readonly context: SecureContextOptions
  /** When the certificate expires. */
  readonly expires: Date
}

/** Reads and checks certificate and key. Rejects with an Error that says what is wrong. */
export async function readCertificate(tls: TlsOptions): Promise<Certificate> {
  const [cert, key] = await Promise.all([pemOf('cert', tls.cert), pemOf('key', tls.key)])
  const { passphrase } = tls
  const certificate = attempt('tls.cert is not a certificate in PEM form', () => {
    return new X509Certificate(cert)
  })
  const hint = 'tls.key is not a private key in PEM form, or needs another passphrase'
  const privateKey = attempt(hint, () => createPrivateKey({ key, passphrase }))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error('tls.key is not the key of the certificate in tls.cert')
  }
  const context: SecureContextOptions = { cert, key, passphrase, minVersion: 'TLSv1.2' }
  return { context, expires: new Date(certificate.validTo) }
}

/** Whether an option is PEM text, not the path of a file. */
export function isPem(text: string): boolean {
  return text.includes('-----BEGIN ')
}

async function pemOf(name: string, value: string): Promise<string> {
  if (isPem(value)) return value
  try {
    return await readFile(value, 'utf8')
  } catch (error) {
    throw new Error(`tls.${name} cannot be read: ${errorMessage(error)}`, { cause: error })
  }
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    throw new Error(what, { cause })
  }
}
