import { parseAddress } from '../../address.ts'
import { dial, type OpeningOptions, type Where } from '../../dial.ts'
import type { Channel } from '../../jsonrpc/channel.ts'
import { asRead } from '../../jsonrpc/codec/raw-json.ts'
import { isList, type Message } from '../../jsonrpc/message.ts'
import type { Endpoint } from '../../mcp/endpoint.ts'
import { memoryPair } from '../../transport/memory.ts'
import type { ChildProcess } from '../../transport/process/child.ts'
import { isRecord } from '../../util/record.ts'
import type { Traffic } from '../../util/traffic.ts'
import { writtenResults } from '../forward/hop.ts'
import type { InstanceUrl, UpstreamOptions } from '../options.ts'

/** Where one instance of a server is, and how it is reached. */
export interface Target {
  /** Tells it from the other instances of the same server, for as long as the options stay. */
  readonly key: string
  /**
   * The same, whichever other instances there are and in whatever order: what calls are spread by where
   * that is by a hash. For nobody's eyes.
   */
  readonly place: string
  /** What it is, for people: a program or an address. Holds nothing secret. */
  readonly label: string
  readonly weight: number
  /** Opens a connection; of a program, starts one. */
  dial(options: TargetOptions): Promise<Channel>
}

/** How long opening may take, and what is told of what was opened. */
export interface TargetOptions {
  readonly handshakeMs: number
  readonly onChild: (child: ChildProcess) => void
  /** Told when calls begin to go over a WebSocket instead of HTTP, and when no more. */
  readonly onWebSocket: (isOpen: boolean) => void
  /** Counts what passes. */
  readonly traffic: Traffic
}

/** The instances that the options of a server name. Throws a TypeError where they name none, or two kinds. */
export function targetsOf(name: string, options: UpstreamOptions): readonly Target[] {
  const { command, url, urls, server } = options
  const named = [command, url, urls, server].filter(one => one !== undefined)
  if (named.length !== 1) {
    const what = 'exactly one of "command", "url", "urls" and "server"'
    throw new TypeError(`server "${name}" needs ${what}, not ${named.length}`)
  }
  if (server !== undefined) return [localTarget(server)]
  if (command !== undefined) return childTargets(name, command, options)
  const places = urls ?? [url as string]
  if (places.length === 0) throw new TypeError(`server "${name}": "urls" is empty`)
  const targets = places.map((place, index) => urlTarget(place, index, options))
  // An address that stands there twice is two places.
  return targets.map((target, index) => {
    const same = targets.slice(0, index).filter(({ place }) => place === target.place).length
    return same === 0 ? target : { ...target, place: `${target.place} ${same}` }
  })
}

function localTarget(server: Endpoint): Target {
  return {
    key: '0',
    place: '0',
    label: 'in this process',
    weight: 1,
    dial: async () => {
      const [near, far] = memoryPair()
      server.attach(far)
      return reading(near)
    },
  }
}

/** A channel that nobody writes as text: what has come as text and not been read is read before it is sent. */
function reading(channel: Channel): Channel {
  return {
    open: sink => channel.open(sink),
    send: (message, envelope) =>
      channel.send(isList(message) ? message.map(readMessage) : readMessage(message), envelope),
    close: () => channel.close(),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

function readMessage(message: Message): Message {
  if (message.type !== 'request' || !isRecord(message.params)) return message
  const params = asRead(message.params)
  return params === message.params ? message : { ...message, params }
}

function childTargets(name: string, command: string, options: UpstreamOptions): readonly Target[] {
  const { args, cwd, env, inheritEnv, instances = 1 } = options
  if (!Number.isInteger(instances) || instances < 1) {
    throw new TypeError(`server "${name}": "instances" is a whole number from 1 on`)
  }
  const where: Where = { kind: 'child', command: { command, args, cwd, env, inheritEnv } }
  return Array.from({ length: instances }, (_, index) => ({
    key: String(index),
    place: String(index),
    label: command,
    weight: 1,
    dial: told => dial(where, { ...opening(told), onStderr: () => {}, traffic: told.traffic }),
  }))
}

function urlTarget(place: InstanceUrl, index: number, options: UpstreamOptions): Target {
  const { headers, websocket = true } = options
  const { url, weight = 1 } = typeof place === 'string' ? { url: place } : place
  const where = parseAddress(url)
  return {
    key: String(index),
    place: url,
    label: withoutSecrets(url),
    weight,
    dial: told => {
      const { onWebSocket, traffic } = told
      return dial(where, { ...opening(told), headers, websocket, onWebSocket, traffic })
    },
  }
}

// Less than others gather: the server begins with the first of many calls while the rest of them is read.
const coalesceBytes = 4096

function opening({ handshakeMs, onChild }: TargetOptions): OpeningOptions {
  const decode = { written: writtenResults }
  const onJunk = (): void => {}
  return { handshakeMs, onChild, subprotocol: 'mcp', byTurns: true, coalesceBytes, decode, onJunk }
}

/** An address without what may be a secret in it: a password, or the query. */
function withoutSecrets(address: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  url.username = ''
  url.password = ''
  url.search = url.search === '' ? '' : '?…'
  return url.href
}
