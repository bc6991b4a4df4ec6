import { type Address, parseAddress } from '../../address.ts'
import type { ChildCommand } from '../../transport/process/child.ts'
import { type AddressOf, type Place, placeOf } from '../../transports.ts'
import type { FramingName } from '../../wire/frame.ts'
import type { CommandTarget } from '../target/target.ts'
import { type Finding, fail } from './finding.ts'
import { childWire } from './wire/child-wire.ts'
import { HttpWire } from './wire/http-wire.ts'
import { socketWire, websocketWire } from './wire/socket-wire.ts'
import { sseWire } from './wire/sse-wire.ts'
import type { Wire } from './wire/wire.ts'

/** Where the checked server is: an address, or a program to start. */
export type CheckTarget = Address | { readonly kind: 'child'; readonly command: ChildCommand }

/** Returns what is checked for the target of a command. Throws a TypeError for an invalid address. */
export function checkTargetOf({ where }: Pick<CommandTarget, 'where'>): CheckTarget {
  if (typeof where !== 'string') return { kind: 'child', command: where }
  return parseAddress(where)
}

/** How to open a wire. */
export interface OpenWireOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly framing: FramingName | undefined
  readonly timeoutMs: number
  /** Whether the server supports only the HTTP+SSE transport. */
  readonly isHttpSse: boolean
}

type TargetOf<K extends CheckTarget['kind']> = Extract<CheckTarget, { readonly kind: K }>

/** How a check treats one kind of target. */
interface TargetRow<K extends CheckTarget['kind']> {
  /** Opens a connection that can send any text. */
  open(target: TargetOf<K>, options: OpenWireOptions): Promise<Wire>
  /** Returns the URL of a target to which every message is a separate HTTP request. */
  endpoint?(target: TargetOf<K>): URL
  /** Returns the finding for a target that does not exist (`ENOENT`). */
  missing?(target: TargetOf<K>): Finding
}

const openSocket = (
  address: AddressOf<'tcp' | 'unix' | 'pipe'>,
  { framing }: OpenWireOptions,
): Promise<Wire> => socketWire(address, framing)

const rows: { readonly [K in CheckTarget['kind']]: TargetRow<K> } = {
  child: {
    open: ({ command }, { framing }) => childWire(command, framing),
    missing: ({ command: { command, cwd } }) =>
      fail(
        `"${command}"${cwd === undefined ? '' : ` or the folder ${cwd}`} does not exist`,
        'Give the full path of the program, or install it so that it is found in PATH. The command is not run by a shell.',
      ),
  },
  tcp: { open: openSocket },
  unix: {
    open: openSocket,
    missing: ({ path }) =>
      fail(
        `the socket ${path} does not exist`,
        'Start the server, and check that both use the same path.',
      ),
  },
  pipe: { open: openSocket },
  websocket: { open: ({ url }, { headers }) => websocketWire(url, headers) },
  http: {
    open: async ({ url }, { headers, timeoutMs, isHttpSse }) =>
      isHttpSse ? sseWire(url, headers, timeoutMs) : new HttpWire(url, headers, timeoutMs),
    endpoint: ({ url }) => url,
  },
  stdio: {
    open: async () => {
      throw new TypeError('"stdio:" is not a server address')
    },
  },
}

/** Opens a connection to the target. Rejects with the reason if it cannot be opened. */
export function openWire(target: CheckTarget, options: OpenWireOptions): Promise<Wire> {
  return rowOf(target).open(target, options)
}

/** Returns the URL of a target to which every message is a separate HTTP request; undefined for other targets. */
export function endpointOf(target: CheckTarget): URL | undefined {
  return rowOf(target).endpoint?.(target)
}

/** Returns the finding for a target that does not exist (`ENOENT`); undefined if its kind has no specific one. */
export function missingTarget(target: CheckTarget): Finding | undefined {
  return rowOf(target).missing?.(target)
}

/** Returns where the target is; undefined for a program. */
export function targetPlace(target: CheckTarget): Place | undefined {
  return target.kind === 'child' ? undefined : placeOf(target)
}

function rowOf(target: CheckTarget): TargetRow<CheckTarget['kind']> {
  // The check: the table has the row of each kind under its name.
  return rows[target.kind] as TargetRow<CheckTarget['kind']>
}
