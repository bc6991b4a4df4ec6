import { lookup } from 'node:dns/promises'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls, type PeerCertificate } from 'node:tls'
import type { Place } from '../../transports.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { isPlainAnswer } from '../../util/tls.ts'
import type { CheckContext } from './context.ts'
import { type Finding, fail, notApplicable, ok, warn } from './finding.ts'
import { missingTarget, targetPlace } from './target.ts'

/** Step `reach`: checks that the address resolves and accepts connections, or that the program starts. */
export async function reach(context: CheckContext): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const network = hostPortOf(context)
  try {
    if (network !== undefined) findings.push(...(await reachHost(network, context.timeoutMs)))
    if (context.endpoint === undefined) {
      context.keep(await withTimeout(context.open(), context.timeoutMs))
      findings.push(ok(openedText(context)))
    }
  } catch (error) {
    const finding = connectFailure(context, error)
    context.blocked = 'the server cannot be reached'
    return [...findings, finding]
  }
  return findings
}

/** Step `tls`: checks that clients accept the certificate, and how long it is valid. */
export async function tls(context: CheckContext): Promise<readonly Finding[]> {
  const network = hostPortOf(context)
  if (!network?.isSecure) return [notApplicable('the connection is not encrypted')]
  const { certificate, error, protocol } = await handshake(network, context.timeoutMs)
  if (error !== undefined && isPlainAnswer('', error)) {
    context.blocked = 'the server does not speak TLS'
    return [fail('the server does not speak TLS on this port', 'Use http: (or ws:) instead.')]
  }
  if (error !== undefined) {
    context.blocked = 'the certificate is not trusted'
    return [
      fail(`the certificate is not trusted: ${error}`, certificateAdvice(error, network.host)),
    ]
  }
  const until = Date.parse(certificate.valid_to)
  const days = Math.floor((until - Date.now()) / 86_400_000)
  const message = `${protocol}, certificate for ${certificate.subject?.CN ?? network.host}, valid for ${days} more days`
  if (until - Date.now() > limits.checkCertificateMs.default) return [ok(message)]
  return [warn(message, 'Renew the certificate before it expires: clients reject an expired one.')]
}

/** Host and port of a network address. */
type HostPort = Extract<Place, { readonly type: 'network' }>

function hostPortOf({ where }: CheckContext): HostPort | undefined {
  const place = targetPlace(where)
  return place?.type === 'network' ? place : undefined
}

async function reachHost({ host, port }: HostPort, timeoutMs: number): Promise<readonly Finding[]> {
  const found = await withTimeout(lookup(host, { all: true }), timeoutMs)
  const addresses = found.map(({ address }) => address).join(', ')
  const named = addresses === host ? [] : [ok(`${host} resolves to ${addresses}`)]
  const begin = performance.now()
  await withTimeout(tryConnect(host, port), timeoutMs)
  const ms = Math.max(1, Math.round(performance.now() - begin))
  return [...named, ok(`${host}:${port} accepts connections (${ms} ms)`)]
}

function tryConnect(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host, port })
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function openedText({ where }: CheckContext): string {
  if (where.kind === 'child') return `"${where.command.command}" starts`
  const place = targetPlace(where)
  return place?.type === 'file' ? `${place.path} accepts connections` : 'a connection can be opened'
}

const adviceByCode: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'The host name does not exist. Check its spelling and the DNS entry.'],
  [
    'EAI_AGAIN',
    'The host name cannot be resolved right now. Check the network and the DNS server.',
  ],
  [
    'ECONNREFUSED',
    'Nothing is listening there. Start the server, and check that host and port match its address.',
  ],
  [
    'ECONNRESET',
    'Something accepts the connection and closes it at once. Check that it is the right server.',
  ],
  ['EHOSTUNREACH', 'The host is unreachable. Check the network and firewalls.'],
  ['ENETUNREACH', 'The network is unreachable. Check the connection and firewalls.'],
  ['ETIMEDOUT', 'The host does not respond. Check the address and firewalls.'],
  ['EACCES', 'Permission denied. Check the permissions of the file.'],
])

function connectFailure(context: CheckContext, error: unknown): Finding {
  const code = isRecord(error) || error instanceof Error ? Reflect.get(error, 'code') : undefined
  const message = error instanceof Error && error.message !== '' ? error.message : String(code)
  const missing = code === 'ENOENT' ? missingTarget(context.where) : undefined
  if (missing !== undefined) return missing
  const advice =
    adviceByCode.get(String(code)) ??
    'Check the address, that the server is running, and firewalls.'
  return fail(message, advice)
}

interface Handshake {
  readonly certificate: PeerCertificate
  readonly protocol: string
  readonly error: string | undefined
}

function handshake({ host, port }: HostPort, timeoutMs: number): Promise<Handshake> {
  const work = new Promise<Handshake>((resolve, reject) => {
    // An untrusted certificate is accepted here, because the finding needs the reason.
    const servername = /^[\d.]+$|:/.test(host) ? undefined : host
    const socket = connectTls({ host, port, servername, rejectUnauthorized: false }, () => {
      const { authorized, authorizationError } = socket
      const error = authorized ? undefined : String(authorizationError)
      resolve({
        certificate: socket.getPeerCertificate(),
        protocol: socket.getProtocol() ?? 'TLS',
        error,
      })
      socket.destroy()
    })
    socket.once('error', reject)
  })
  return withTimeout(work, timeoutMs).catch((error: Error) => ({
    // The check: callers do not read the certificate if there is an error.
    certificate: {} as PeerCertificate,
    protocol: '',
    error: error.message,
  }))
}

function certificateAdvice(error: string, host: string): string {
  if (/EXPIRED/.test(error)) return 'The certificate has expired. Renew it.'
  if (/SELF_SIGNED|UNABLE_TO/.test(error)) {
    return 'Clients do not trust the issuer. Serve the whole certificate chain; for a private authority set NODE_EXTRA_CA_CERTS.'
  }
  if (/ALTNAME/.test(error)) return `The certificate is for another host name. Get one for ${host}.`
  return 'Check that the server speaks TLS on this port, and check its certificate.'
}
