import { nearest } from '../../util/nearest.ts'
import { addressProblem, isLocalAddress, schemeOf } from './address.ts'
import { type ForeignKey, foreignFileKeys, foreignServerKeys } from './other-hosts.ts'
import { restart } from './schema-policy.ts'
import type { ConfigNode } from './text.ts'

/** An object of a file. */
export type ObjectNode = ConfigNode & { readonly type: 'object' }

/** Reports an error at a member, or at the object itself if none is named. */
export type Report = (key: string | undefined, message: string) => void

/** An object whose members have been looked at one by one. */
export interface CheckedObject {
  readonly node: ObjectNode
  /** The members that are right, variables replaced. */
  readonly value: Readonly<Record<string, unknown>>
  readonly report: Report
  /** Whether other machines may reach the router, whatever the file says. */
  readonly mayBePublic: boolean
}

/** What must be true between the members of an object, by its group in the table of fields. */
export const groupRules: ReadonlyMap<string, (object: CheckedObject) => void> = new Map([
  ['file', fileRules],
  ['server', serverRules],
  ['tools', toolRules],
  ['limits', limitRules],
  ['routerLimits', limitRules],
  ['callLimits', limitRules],
  ['restart', restartRules],
  ['hash', hashRules],
  ['instance', instanceRules],
])

function fileRules({ node, value, report, mayBePublic }: CheckedObject): void {
  const { members } = node
  if (members.has('mcpServers') && members.has('servers')) {
    report('servers', 'mcpServers and servers say the same; put all servers into one of them')
  } else if (!members.has('mcpServers') && !members.has('servers')) {
    if (!isMisspelt(members, ['mcpServers', 'servers'], foreignFileKeys)) {
      report(undefined, 'the file names no servers; write them into mcpServers')
    }
  }
  const inputs = members.get('inputs')?.value
  if (inputs !== undefined && !(inputs.type === 'list' && inputs.items.length === 0)) {
    report(
      'inputs',
      `inputs are questions to a user, who is not here; use environment variables: \${NAME}`,
    )
  }
  const addresses = textsIn(value.listen).filter(text => isAddress(text))
  const twice = repeated(addresses)
  if (twice) report('listen', 'listen has the same address twice')
  const isPublic = mayBePublic || value.public === true
  if (!isPublic && addresses.some(text => !isLocalAddress(text))) report('listen', open('listen'))
  const metrics = value.metrics
  if (typeof metrics === 'string' && isAddress(metrics) && !isPublic && !isLocalAddress(metrics)) {
    report('metrics', open('metrics'))
  }
  const isHttp = !members.has('listen') || addresses.some(text => schemeOf(text) === 'http')
  if (metrics === true && !isHttp) {
    report(
      'metrics',
      'metrics are served over HTTP; add such an address to listen, or name one here',
    )
  }
}

function open(field: string): string {
  return `${field} has an address that other machines can reach; use 127.0.0.1, or write "public": true if everybody there may use it`
}

function serverRules({ node, value, report }: CheckedObject): void {
  const { members } = node
  const ways = ['command', 'url', 'urls'].filter(way => members.has(way))
  const [way] = ways
  if (way === undefined) {
    if (!isMisspelt(members, ['command', 'url', 'urls'], foreignServerKeys)) {
      report(undefined, 'a server needs one of command, url and urls')
    }
  } else if (ways.length > 1)
    report(ways[1], `a server has one of command, url and urls, not ${ways.join(' and ')}`)
  else if (way === 'command') programRules(members, report)
  else addressRules(node, value, report)
  typeRules(value, way, report)
  if (value.balance === 'hash' && !members.has('hash')) {
    report(
      'balance',
      'balance "hash" needs hash: "principal", { "header": … } or { "argument": … }',
    )
  }
  if (members.has('hash') && value.balance !== 'hash') {
    report('hash', 'hash does nothing unless balance is "hash"')
  }
}

function programRules(members: ObjectNode['members'], report: Report): void {
  if (!isEmpty(members.get('headers')?.value)) {
    report('headers', 'headers are sent to addresses; a program gets its secrets by env')
  }
  if (members.has('websocket')) {
    report('websocket', 'websocket is about addresses of HTTP, and this server is a program')
  }
}

function addressRules(
  { members }: ObjectNode,
  value: CheckedObject['value'],
  report: Report,
): void {
  for (const key of ['args', 'cwd', 'env', 'inheritEnv', 'instances']) {
    if (isEmpty(members.get(key)?.value)) continue
    const instead = key === 'env' ? '; an address gets its secrets by headers' : ''
    report(key, `${key} is for programs, and this server is an address${instead}`)
  }
  const addresses = addressesOf(value)
  const twice = repeated(addresses)
  if (twice) report('urls', 'urls has the same address twice; give it a weight instead')
  const schemes = addresses.map(schemeOf)
  const takesHeaders = schemes.some(scheme => /^(?:http|ws)s?$/.test(scheme ?? ''))
  if (!isEmpty(members.get('headers')?.value) && addresses.length > 0 && !takesHeaders) {
    report('headers', 'headers are sent over HTTP and WebSocket only')
  }
  const isHttp = schemes.some(scheme => /^https?$/.test(scheme ?? ''))
  if (members.has('websocket') && addresses.length > 0 && !isHttp) {
    report('websocket', 'websocket is about addresses of HTTP only')
  }
}

/** Which addresses each type is about. */
const schemesOfType: Readonly<Record<string, RegExp>> = {
  http: /^https?$/,
  'streamable-http': /^https?$/,
  sse: /^https?$/,
  ws: /^wss?$/,
  websocket: /^wss?$/,
}

function typeRules(value: CheckedObject['value'], way: string | undefined, report: Report): void {
  const { type } = value
  if (typeof type !== 'string' || way === undefined) return
  const schemes = schemesOfType[type]
  const fits =
    way === 'command'
      ? schemes === undefined
      : schemes !== undefined &&
        addressesOf(value).every(address => schemes.test(schemeOf(address) ?? ''))
  if (!fits) report('type', `type "${type}" contradicts ${way}; leave the type out`)
}

function toolRules({ value, report }: CheckedObject): void {
  const names = Object.values((value.rename ?? {}) as Readonly<Record<string, unknown>>)
  const twice = repeated(names)
  if (twice) report('rename', 'rename gives two tools the same name')
}

function limitRules({ node: { members }, report }: CheckedObject): void {
  if (members.has('burst') && !members.has('perSecond')) {
    report('burst', 'burst does nothing without perSecond')
  }
  if (members.has('queue') && !members.has('concurrent')) {
    report('queue', 'queue does nothing without concurrent')
  }
}

function restartRules({ value, report }: CheckedObject): void {
  const least = value.minMs ?? restart.minMs.default
  const most = value.maxMs ?? restart.maxMs.default
  if (typeof least !== 'number' || typeof most !== 'number' || least <= most) return
  report(value.minMs === undefined ? 'maxMs' : 'minMs', `minMs (${least}) is above maxMs (${most})`)
}

function hashRules({ node: { members }, report }: CheckedObject): void {
  if (members.has('header') === members.has('argument')) {
    report(undefined, 'hash needs one of header and argument')
  }
}

function instanceRules({ node: { members }, report }: CheckedObject): void {
  if (!members.has('url')) report(undefined, 'an entry of urls needs a url')
}

/** Whether one of these is there under another name, which has been told already. */
function isMisspelt(
  members: ObjectNode['members'],
  names: readonly string[],
  foreign: ReadonlyMap<string, ForeignKey>,
): boolean {
  const isCalledOtherwise = (key: string): boolean =>
    names.some(name => foreign.get(key)?.message.includes(`${name} `))
  return [...members.keys()].some(
    key => isCalledOtherwise(key) || nearest(key, names) !== undefined,
  )
}

/** The addresses of a server that could be read. */
function addressesOf({ url, urls }: CheckedObject['value']): string[] {
  const entries: unknown[] = Array.isArray(urls) ? urls : [url]
  // The check: entries are what the table lets through, texts or objects with a text.
  const texts = entries.map(entry => (entry as { url?: unknown } | undefined)?.url ?? entry)
  return texts.filter(text => typeof text === 'string').filter(text => isAddress(text, 'connect'))
}

/** References that could not be followed stay in their texts, which are no addresses then. */
function isAddress(text: string, use: 'listen' | 'connect' = 'listen'): boolean {
  return addressProblem(text, use) === undefined
}

function textsIn(value: unknown): string[] {
  const entries: unknown[] = Array.isArray(value) ? value : [value]
  return entries.filter(entry => typeof entry === 'string')
}

function repeated(values: readonly unknown[]): boolean {
  return new Set(values).size < values.length
}

/** Whether a member is missing, or there and says nothing, as generated files often have it. */
function isEmpty(node: ConfigNode | undefined): boolean {
  if (node === undefined) return true
  if (node.type === 'object') return node.members.size === 0
  return node.type === 'list' && node.items.length === 0
}
