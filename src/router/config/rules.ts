import { type Address, readAddress } from '../../address.ts'
import { placeOf, transportOf } from '../../transports.ts'
import { nearest } from '../../util/nearest.ts'
import { policyConditionRules, policyRuleRules, policyRules } from './access/rules.ts'
import {
  authRules,
  clientCredentialsRules,
  exchangeRules,
  hasAuthorization,
  idJagRules,
  introspectionRules,
  isForEachCaller,
  listerRules,
  loginRules,
  requiring,
  serverAuthRules,
  userRules,
} from './auth/rules.ts'
import type { CheckedObject, Report } from './checked-object.ts'
import type { AddressUse } from './field.ts'
import { pool, restart } from './schema-policy.ts'
import type { ConfigNode, ObjectNode } from './text.ts'
import { addressProblem, isLocalAddress } from './values.ts'

/** Cross-field rules of an object, by its group in the field table. */
export const groupRules: ReadonlyMap<string, (object: CheckedObject) => void> = new Map([
  ['file', fileRules],
  ['tls', tlsRules],
  ['auth', authRules],
  ['jwt', requiring('issuer')],
  ['introspection', introspectionRules],
  ['apiKeys', requiring('file')],
  ['policy', policyRules],
  ['policyRule', policyRuleRules],
  ['policyCondition', policyConditionRules],
  ['audit', requiring('file')],
  ['serverAuth', serverAuthRules],
  ['lister', listerRules],
  ['clientCredentials', clientCredentialsRules],
  ['exchange', exchangeRules],
  ['idJag', idJagRules],
  ['idp', exchangeRules],
  ['user', userRules],
  ['login', loginRules],
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

function fileRules({ node, value, report, allowPublic, hasCallerTokens }: CheckedObject): void {
  const { members } = node
  const isPublic = allowPublic || value.public === true
  // Callers of the listed addresses are authenticated then; those of the address for metrics are not.
  const isGuarded = isPublic || members.has('auth')
  const listen = addressTexts(value.listen, 'listen')
  const ofViews = viewAddresses(value.views)
  if (repeated(listen)) report('listen', 'listen contains a duplicate address')
  else if (repeated([...listen, ...ofViews])) {
    report('views', 'views contains an address that is used twice')
  }
  for (const [field, texts] of [
    ['listen', listen],
    ['views', ofViews],
  ] as const) {
    const those = parsed(texts)
    if (!isGuarded && !those.every(isLocalAddress)) report(field, publicProblem(field))
    if (those.some(isSecure) && !members.has('tls')) {
      report(field, `${field} has an address with TLS, which needs tls: { "cert": …, "key": … }`)
    }
  }
  if (members.has('policy') && !members.has('auth') && !hasCallerTokens) {
    report('policy', 'policy requires auth: without it every caller is anonymous')
  }
  const addresses = parsed([...listen, ...ofViews])
  const metrics = value.metrics
  if (!isPublic && !parsed(addressTexts(metrics, 'listen')).every(isLocalAddress)) {
    report('metrics', publicProblem('metrics'))
  }
  const isHttp = !members.has('listen') || addresses.some(({ kind }) => kind === 'http')
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
  return all.flatMap(({ listen }) => addressTexts(listen, 'listen'))
}

function tlsRules({ node, report }: CheckedObject): void {
  for (const name of ['cert', 'key']) {
    if (!node.members.has(name)) report(undefined, `tls needs ${name}, the path of a PEM file`)
  }
}

function isSecure(address: Address): boolean {
  const place = placeOf(address)
  return place?.type === 'network' && place.isSecure
}

function publicProblem(field: string): string {
  const guard = field === 'metrics' ? '' : ', set "auth" to authenticate callers'
  return `${field} has an address that other machines can reach; use 127.0.0.1${guard}, or set "public": true to allow unauthenticated access`
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
  if (members.has('auth')) {
    report('auth', 'auth applies to addresses only; pass secrets to a command in env')
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
  const texts = urlsOf(value)
  if (repeated(texts)) report('urls', 'urls contains a duplicate address; give it a weight instead')
  const addresses = parsed(texts)
  const takesHeaders = addresses.some(address => transportOf(address).locator === 'url')
  if (!isEmpty(members.get('headers')?.value) && addresses.length > 0 && !takesHeaders) {
    report('headers', 'headers apply to HTTP and WebSocket addresses only')
  }
  if (members.has('auth') && addresses.length > 0 && !takesHeaders) {
    report('auth', 'auth applies to HTTP and WebSocket addresses only')
  }
  if (members.has('auth') && hasAuthorization(value.headers)) {
    report('auth', 'auth and the header Authorization are both given; use one')
  }
  const isHttp = addresses.some(({ kind }) => kind === 'http')
  if (isForEachCaller(value.auth) && !addresses.every(({ kind }) => kind === 'http')) {
    report('auth', 'credentials of each caller apply to HTTP addresses only')
  }
  if (members.has('lister') && !isForEachCaller(value.auth)) {
    report('lister', 'lister has no effect unless auth authorizes requests for each caller')
  }
  if (members.has('websocket') && addresses.length > 0 && !isHttp) {
    report('websocket', 'websocket applies to HTTP addresses only')
  }
}

/** The kind of address that each `type` allows. */
const kindOfType: ReadonlyMap<string, Address['kind']> = new Map([
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['sse', 'http'],
  ['ws', 'websocket'],
  ['websocket', 'websocket'],
])

function typeRules(
  value: CheckedObject['value'],
  target: string | undefined,
  report: Report,
): void {
  const { type } = value
  if (typeof type !== 'string' || target === undefined) return
  const expected = kindOfType.get(type)
  const fits =
    target === 'command'
      ? expected === undefined
      : expected !== undefined && parsed(urlsOf(value)).every(({ kind }) => kind === expected)
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
function urlsOf({ url, urls }: CheckedObject['value']): string[] {
  const entries: unknown[] = Array.isArray(urls) ? urls : [url]
  // The check: the field table admits only strings and objects with a string.
  const urlValues = entries.map(entry => (entry as { url?: unknown } | undefined)?.url ?? entry)
  return addressTexts(urlValues, 'connect')
}

/** Returns the valid addresses in a string or an array; strings with unresolved references are not valid. */
function addressTexts(value: unknown, use: AddressUse): string[] {
  return stringsIn(value).filter(text => addressProblem(text, use) === undefined)
}

function parsed(texts: readonly string[]): Address[] {
  return texts.flatMap(text => readAddress(text) ?? [])
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
