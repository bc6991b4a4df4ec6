import { lookup } from 'node:dns/promises'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls, type PeerCertificate } from 'node:tls'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { Probe } from './context.ts'
import { type Finding, fail, none, ok, warn } from './finding.ts'

/** Whether there is anything at all where the server should be. */
export async function reach(probe: Probe): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const network = endpointOf(probe)
  try {
    if (network !== undefined) findings.push(...(await reachHost(network, probe.timeoutMs)))
    if (probe.where.kind !== 'http') {
      probe.keep(await withinTime(probe.open(), probe.timeoutMs))
      findings.push(ok(openedText(probe)))
    }
  } catch (error) {
    const finding = failureOf(probe, error)
    probe.blocked = 'the server cannot be reached'
    return [...findings, finding]
  }
  return findings
}

/** Whether the certificate is one that clients accept, and for how long. */
export async function tls(probe: Probe): Promise<readonly Finding[]> {
  const network = endpointOf(probe)
  if (!network?.isTls) return [none('the connection is not encrypted')]
  const { certificate, error, protocol } = await handshake(network, probe.timeoutMs)
  if (error !== undefined) {
    probe.blocked = 'the certificate is not accepted'
    return [fail(`the certificate is refused: ${error}`, certificateAdvice(error, network.host))]
  }
  const until = Date.parse(certificate.valid_to)
  const days = Math.floor((until - Date.now()) / 86_400_000)
  const saw = `${protocol}, a certificate for ${certificate.subject?.CN ?? network.host}, valid for ${days} more days`
  if (until - Date.now() > limits.checkCertificateMs.default) return [ok(saw)]
  return [warn(saw, 'Renew the certificate before clients begin to refuse it.')]
}

/** A host and a port behind an address. */
interface Network {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
}

function endpointOf({ where }: Probe): Network | undefined {
  if (where.kind === 'tcp') return { host: where.host, port: where.port, isTls: false }
  if (where.kind !== 'http' && where.kind !== 'websocket') return undefined
  const { hostname, port, protocol } = where.url
  const isTls = protocol === 'https:' || protocol === 'wss:'
  const host = hostname.replace(/^\[|\]$/g, '')
  return { host, port: port === '' ? (isTls ? 443 : 80) : Number(port), isTls }
}

async function reachHost({ host, port }: Network, timeoutMs: number): Promise<readonly Finding[]> {
  const found = await withinTime(lookup(host, { all: true }), timeoutMs)
  const addresses = found.map(({ address }) => address).join(', ')
  const named = addresses === host ? [] : [ok(`${host} is ${addresses}`)]
  const begin = performance.now()
  await withinTime(knock(host, port), timeoutMs)
  const ms = Math.max(1, Math.round(performance.now() - begin))
  return [...named, ok(`${host}:${port} accepts connections, after ${ms} ms`)]
}

function knock(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host, port })
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })
}

async function withinTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`nothing happened within ${timeoutMs} ms`)),
      timeoutMs,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function openedText({ where }: Probe): string {
  switch (where.kind) {
    case 'child':
      return `"${where.command.command}" starts`
    case 'unix':
    case 'pipe':
      return `${where.path} accepts connections`
    case 'tcp':
      return 'a connection can be opened'
    case 'websocket':
      return 'a WebSocket can be opened'
    case 'http':
    case 'stdio':
      return 'the port is open'
  }
}

const advices: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'No machine has this name. Check the spelling and the DNS entry.'],
  ['EAI_AGAIN', 'The name cannot be looked up now. Check the network and the DNS server.'],
  [
    'ECONNREFUSED',
    'Nothing listens there. Start the server, and compare its port and host with the address.',
  ],
  [
    'ECONNRESET',
    'Something listens there and hangs up at once. Check that it is the server you mean.',
  ],
  ['EHOSTUNREACH', 'The machine cannot be reached. Check the network and firewalls.'],
  ['ENETUNREACH', 'The network cannot be reached. Check the connection and firewalls.'],
  ['ETIMEDOUT', 'Nobody answers. Check the address, and firewalls on the way.'],
  ['EACCES', 'This user may not do that. Check the permissions of the file.'],
])

function failureOf(probe: Probe, error: unknown): Finding {
  const code = isRecord(error) || error instanceof Error ? Reflect.get(error, 'code') : undefined
  const message = error instanceof Error && error.message !== '' ? error.message : String(code)
  if (probe.where.kind === 'child' && code === 'ENOENT') {
    const { command, cwd } = probe.where.command
    const where = cwd === undefined ? '' : ` or the folder ${cwd}`
    return fail(
      `"${command}"${where} does not exist`,
      'Give the path of the program, or install it so that it is found in PATH. No shell reads the command.',
    )
  }
  if (probe.where.kind === 'unix' && code === 'ENOENT') {
    return fail(
      `there is no socket ${probe.where.path}`,
      'Start the server, and compare the paths.',
    )
  }
  const advice =
    advices.get(String(code)) ??
    'Check the address, that the server runs, and firewalls on the way.'
  return fail(message, advice)
}

interface Handshake {
  readonly certificate: PeerCertificate
  readonly protocol: string
  readonly error: string | undefined
}

function handshake({ host, port }: Network, timeoutMs: number): Promise<Handshake> {
  const work = new Promise<Handshake>((resolve, reject) => {
    // Looked at instead of refused: the reason is what is wanted.
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
  return withinTime(work, timeoutMs).catch((error: Error) => ({
    // The check: nobody looks at it where there is an error.
    certificate: {} as PeerCertificate,
    protocol: '',
    error: error.message,
  }))
}

function certificateAdvice(error: string, host: string): string {
  if (/EXPIRED/.test(error)) return 'The certificate is too old. Renew it.'
  if (/SELF_SIGNED|UNABLE_TO/.test(error)) {
    return 'Clients do not know who signed it. Serve the whole chain; for an authority of your own set NODE_EXTRA_CA_CERTS.'
  }
  if (/ALTNAME/.test(error)) return `The certificate is for another name. Get one for ${host}.`
  return 'Check that the server speaks TLS on this port, and its certificate.'
}
