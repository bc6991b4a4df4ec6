import { stat } from 'node:fs/promises'
import type { createServer } from 'node:https'
import type { Server } from 'node:net'
import type { TlsOptions as NodeTlsOptions } from 'node:tls'
import { ChannelError } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { type Certificate, isPem, readCertificate, type TlsOptions } from './certificate.ts'

/** How a server speaks TLS. */
export interface ServerTls {
  /** `createServer` of `node:https`, which plain servers need not load. */
  readonly createServer: typeof createServer
  /** The options to create the server with. */
  readonly options: NodeTlsOptions
  /**
   * Renews the certificate of a server whenever its files change, until the server closes. Returns a
   * function that does so at once; a failure goes to `onError`, and the old certificate stays.
   */
  renew(server: Server): () => Promise<void>
}

/**
 * Reads the certificate of a listener. Rejects with a ChannelError `'refused'` that names the address if
 * there is none or it cannot be used. An expired one is used and reported to `onError`.
 */
export async function tlsFor(
  address: string,
  tls: TlsOptions | undefined,
  onError?: (error: Error) => void,
): Promise<ServerTls> {
  const refused = (why: string, cause?: unknown): ChannelError =>
    new ChannelError('refused', `listening on ${address}: ${why}`, { cause })
  if (tls === undefined) {
    throw refused('TLS needs a certificate and its key: { tls: { cert, key } }, as PEM or as paths')
  }
  const files = [tls.cert, tls.key].filter(one => !isPem(one))
  let seen = ''
  const read = async (): Promise<Certificate> => {
    // Before the files are read: a change in between is then found at the next check.
    seen = await stateOf(files)
    const certificate = await readCertificate(tls)
    if (certificate.expires.getTime() < Date.now()) {
      const date = certificate.expires.toISOString().slice(0, 10)
      onError?.(refused(`the certificate expired on ${date}; clients will refuse it`))
    }
    return certificate
  }
  const first = await read().catch(error => {
    throw refused(errorMessage(error), error)
  })
  const { createServer } = await import('node:https')
  const { Server: SecureServer } = await import('node:tls')
  const renew = (server: Server): (() => Promise<void>) => {
    const reload = async (): Promise<void> => {
      try {
        const { context } = await read()
        if (server instanceof SecureServer) server.setSecureContext(context)
      } catch (error) {
        onError?.(refused(`the old certificate stays: ${errorMessage(error)}`, error))
      }
    }
    if (files.length === 0) return reload
    const check = async (): Promise<void> => {
      if ((await stateOf(files)) !== seen) await reload()
    }
    const timer = setInterval(check, limits.certificateCheckMs.default).unref()
    server.once('close', () => clearInterval(timer))
    return reload
  }
  return {
    createServer,
    options: { ...first.context, handshakeTimeout: limits.handshakeMs.default },
    renew,
  }
}

/**
 * Returns what identifies the current contents of files. It follows links, because certificates are often
 * replaced by renaming or by swapping links. A missing file has a state of its own.
 */
async function stateOf(files: readonly string[]): Promise<string> {
  const states = files.map(async file => {
    try {
      const { ino, size, mtimeMs, ctimeMs } = await stat(file)
      return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
    } catch {
      return 'missing'
    }
  })
  return (await Promise.all(states)).join('\n')
}
