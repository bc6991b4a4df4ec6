import { nearest } from '../../util/nearest.ts'
import { pool, restart } from './schema-policy.ts'
import type { ConfigNode, ObjectNode } from './text.ts'
import { addressProblem, isLocalAddress, schemeOf } from './values.ts'

/** Reports an error, or a warning, at a member, or at the object itself for an undefined key. */
export type Report = (
  key: string | undefined,
  message: string,
  severity?: 'error' | 'warning',
) => void

/** An object whose members have been checked individually. */
export interface CheckedObject {
  readonly node: ObjectNode
  /** The valid members, with variables expanded. */
  readonly value: Readonly<Record<string, unknown>>
  readonly report: Report
  /** Whether other machines may reach the router even if the file does not set `public`. */
  readonly allowPublic: boolean
}

/** Cross-field rules of an object, by its group in the field table. */
export const groupRules: ReadonlyMap<string, (object: CheckedObject) => void> = new Map([
  ['file', fileRules],
  ['tls', tlsRules],
  ['server', serverRules],
  ['tools', toolRules],
  ['limits', limitRules],
  ['routerLimits', limitRules],
  ['callLimits', limitRules],
  ['restart', restartRules],
  ['pool', poolRules],
  ['hash', hashRules],
  ['instance', instanceRules],
])

function fileRules({ node, value, report, allowPublic }: CheckedObject): void {
  const { members } = node
  const own = stringsIn(value.listen).filter(text => isAddress(text))
  const ofViews = viewAddresses(value.views)
  const addresses = [...own, ...ofViews]
  if (repeated(own)) report('listen', 'listen contains a duplicate address')
  else if (repeated(addresses)) report('views', 'views contains an address that is used twice')
  const isPublic = allowPublic || value.public === true
  for (const [field, those] of [
    ['listen', own],
    ['views', ofViews],
  ] as const) {
    if (!isPublic && those.some(text => !isLocalAddress(text))) report(field, publicProblem(field))
  }
  const metrics = value.metrics
  if (typeof metrics === 'string' && isAddress(metrics) && !isPublic && !isLocalAddress(metrics)) {
    report('metrics', publicProblem('metrics'))
  }
  const isTls = (text: string): boolean => /^(?:https|wss)$/.test(schemeOf(text) ?? '')
  const isSecure = addresses.some(isTls)
  if (isSecure && !members.has('tls')) {
    const field = own.some(isTls) ? 'listen' : 'views'
    report(field, `${field} has an address with TLS, which needs tls: { "cert": …, "key": … }`)
  }
  const isHttp =
    !members.has('listen') || addresses.some(text => /^https?$/.test(schemeOf(text) ?? ''))
  if (metrics === true && !isHttp) {
    report(
      'metrics',
      'metrics need an HTTP address; add one to listen, or set metrics to an address',
    )
  }
}

/** Returns the valid addresses at which views are served. */
function viewAddresses(views: unknown): string[] {
  // The check: the field table admits only objects here.
  const all = Object.values((views ?? {}) as Readonly<Record<string, { listen?: unknown }>>)
  return all.flatMap(({ listen }) => stringsIn(listen)).filter(text => isAddress(text))
}

function tlsRules({ node, report }: CheckedObject): void {
  for (const name of ['cert', 'key']) {
    if (!node.members.has(name)) report(undefined, `tls needs ${name}, the path of a PEM file`)
  }
}

function publicProblem(field: string): string {
  return `${field} has an address that other machines can reach; use 127.0.0.1, or set "public": true to allow unauthenticated access`
}

function serverRules({ node, value, report }: CheckedObject): void {
  const { members } = node
  const targets = ['command', 'url', 'urls'].filter(key => members.has(key))
  const [target] = targets
  if (target === undefined) {
    if (!isMisspelled(members, ['command', 'url', 'urls'])) {
      report(undefined, 'a server must have one of command, url and urls')
    }
  } else if (targets.length > 1)
    report(
      targets[1],
      `a server must have only one of command, url and urls (got ${targets.join(' and ')})`,
    )
  else if (target === 'command') programRules(members, report)
  else addressRules(node, value, report)
  typeRules(value, target, report)
  if (value.balance === 'hash' && !members.has('hash')) {
    report(
      'balance',
      'balance "hash" requires hash: "principal", { "header": … } or { "argument": … }',
    )
  }
  if (members.has('hash') && value.balance !== 'hash') {
    report('hash', 'hash has no effect unless balance is "hash"')
  }
}

function programRules(members: ObjectNode['members'], report: Report): void {
  if (!isEmpty(members.get('headers')?.value)) {
    report(
      'headers',
      'headers apply to addresses only; pass secrets to a command in env',
      'warning',
    )
  }
  if (members.has('websocket')) {
    report('websocket', 'websocket applies to HTTP addresses only, and this server is a command')
  }
  if (members.has('pool')) {
    report('pool', 'pool applies to addresses only; run several instances of a command instead')
  }
}

function addressRules(
  { members }: ObjectNode,
  value: CheckedObject['value'],
  report: Report,
): void {
  for (const key of ['args', 'cwd', 'env', 'inheritEnv', 'instances']) {
    if (isEmpty(members.get(key)?.value)) continue
    const instead = key === 'env' ? '; pass secrets to an address in headers' : ''
    const message = `${key} applies to commands only, and this server is an address${instead}`
    // Other hosts ignore the first three; the others are ours, and their author expects an effect.
    const isIgnored = key === 'args' || key === 'cwd' || key === 'env'
    report(key, message, isIgnored ? 'warning' : undefined)
  }
  const addresses = addressesOf(value)
  const twice = repeated(addresses)
  if (twice) report('urls', 'urls contains a duplicate address; give it a weight instead')
  const schemes = addresses.map(schemeOf)
  const takesHeaders = schemes.some(scheme => /^(?:http|ws)s?$/.test(scheme ?? ''))
  if (!isEmpty(members.get('headers')?.value) && addresses.length > 0 && !takesHeaders) {
    report('headers', 'headers apply to HTTP and WebSocket addresses only')
  }
  const isHttp = schemes.some(scheme => /^https?$/.test(scheme ?? ''))
  if (members.has('websocket') && addresses.length > 0 && !isHttp) {
    report('websocket', 'websocket applies to HTTP addresses only')
  }
}

/** The address schemes that each `type` allows. */
const schemesOfType: Readonly<Record<string, RegExp>> = {
  http: /^https?$/,
  'streamable-http': /^https?$/,
  sse: /^https?$/,
  ws: /^wss?$/,
  websocket: /^wss?$/,
}

function typeRules(
  value: CheckedObject['value'],
  target: string | undefined,
  report: Report,
): void {
  const { type } = value
  if (typeof type !== 'string' || target === undefined) return
  const schemes = schemesOfType[type]
  const fits =
    target === 'command'
      ? schemes === undefined
      : schemes !== undefined &&
        addressesOf(value).every(address => schemes.test(schemeOf(address) ?? ''))
  if (!fits) report('type', `type "${type}" contradicts ${target}; omit the type`)
}

function toolRules({ value, report }: CheckedObject): void {
  const names = Object.values((value.rename ?? {}) as Readonly<Record<string, unknown>>)
  const twice = repeated(names)
  if (twice) report('rename', 'rename gives two tools the same name')
}

function limitRules({ node: { members }, report }: CheckedObject): void {
  if (members.has('burst') && !members.has('perSecond')) {
    report('burst', 'burst has no effect without perSecond')
  }
  if (members.has('queue') && !members.has('concurrent')) {
    report('queue', 'queue has no effect without concurrent')
  }
}

function poolRules({ value, report }: CheckedObject): void {
  const { min = pool.min.default, max = pool.max.default } = value
  if (typeof min !== 'number' || typeof max !== 'number' || min <= max) return
  const field = value.min === undefined ? 'max' : 'min'
  report(field, `min (${min}) must not exceed max (${max})`)
}

function restartRules({ value, report }: CheckedObject): void {
  const min = value.minMs ?? restart.minMs.default
  const max = value.maxMs ?? restart.maxMs.default
  if (typeof min !== 'number' || typeof max !== 'number' || min <= max) return
  report(
    value.minMs === undefined ? 'maxMs' : 'minMs',
    `minMs (${min}) must not exceed maxMs (${max})`,
  )
}

function hashRules({ node: { members }, report }: CheckedObject): void {
  if (members.has('header') === members.has('argument')) {
    report(undefined, 'hash must have one of header and argument')
  }
}

function instanceRules({ node: { members }, report }: CheckedObject): void {
  if (!members.has('url')) report(undefined, 'an entry of urls must have a url')
}

/** Whether one of these is present under a misspelled name, which has been reported already. */
function isMisspelled(members: ObjectNode['members'], names: readonly string[]): boolean {
  return [...members.keys()].some(key => nearest(key, names) !== undefined)
}

/** Returns the valid addresses of a server. */
function addressesOf({ url, urls }: CheckedObject['value']): string[] {
  const entries: unknown[] = Array.isArray(urls) ? urls : [url]
  // The check: the field table admits only strings and objects with a string.
  const urlValues = entries.map(entry => (entry as { url?: unknown } | undefined)?.url ?? entry)
  return urlValues
    .filter(text => typeof text === 'string')
    .filter(text => isAddress(text, 'connect'))
}

/** Whether a string is an address; strings with unresolved references are not. */
function isAddress(text: string, use: 'listen' | 'connect' = 'listen'): boolean {
  return addressProblem(text, use) === undefined
}

function stringsIn(value: unknown): string[] {
  const entries: unknown[] = Array.isArray(value) ? value : [value]
  return entries.filter(entry => typeof entry === 'string')
}

function repeated(values: readonly unknown[]): boolean {
  return new Set(values).size < values.length
}

/** Whether a member is absent or an empty object or array, as generated files often have it. */
function isEmpty(node: ConfigNode | undefined): boolean {
  if (node === undefined) return true
  if (node.type === 'object') return node.members.size === 0
  return node.type === 'list' && node.items.length === 0
}
