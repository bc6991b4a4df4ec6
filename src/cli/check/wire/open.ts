import type { Address } from '../../../address.ts'
import type { ChildCommand } from '../../../transport/process/child.ts'
import type { AddressOf } from '../../../transports.ts'
import type { FramingName } from '../../../wire/frame.ts'
import { childWire } from './child-wire.ts'
import { HttpWire } from './http-wire.ts'
import { socketWire, websocketWire } from './socket-wire.ts'
import { sseWire } from './sse-wire.ts'
import type { Wire } from './wire.ts'

/** Where the checked server is: an address, or a program to start. */
export type CheckTarget = Address | { readonly kind: 'child'; readonly command: ChildCommand }

/** How to open a wire. */
export interface OpenWireOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly framing: FramingName | undefined
  readonly timeoutMs: number
  /** Whether the server supports only the HTTP+SSE transport. */
  readonly isHttpSse: boolean
}

type Opener<K extends CheckTarget['kind']> = (
  target: Extract<CheckTarget, { readonly kind: K }>,
  options: OpenWireOptions,
) => Promise<Wire>

const openSocket = (
  address: AddressOf<'tcp' | 'unix' | 'pipe'>,
  { framing }: OpenWireOptions,
): Promise<Wire> => socketWire(address, framing)

/** Opens a wire, by kind of target. */
const openers: { readonly [K in CheckTarget['kind']]: Opener<K> } = {
  child: ({ command }, { framing }) => childWire(command, framing),
  tcp: openSocket,
  unix: openSocket,
  pipe: openSocket,
  websocket: ({ url }, { headers }) => websocketWire(url, headers),
  http: async ({ url }, { headers, timeoutMs, isHttpSse }) =>
    isHttpSse ? sseWire(url, headers, timeoutMs) : new HttpWire(url, headers, timeoutMs),
  stdio: async () => {
    throw new TypeError('"stdio:" is not a server address')
  },
}

/** Opens a connection to the target. Rejects with the reason if it cannot be opened. */
export function openWire(target: CheckTarget, options: OpenWireOptions): Promise<Wire> {
  // The check: the table has the opener of each kind under its name.
  const open = openers[target.kind] as Opener<CheckTarget['kind']>
  return open(target, options)
}
