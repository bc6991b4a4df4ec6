import type { Backplane } from '../backplane/backplane.ts'
import { limits } from '../util/limits/limits.ts'
import { checkOptions, type OptionTableOf } from '../util/options.ts'
import { type Clock, systemClock } from '../util/time/clock.ts'

/** Options of the node that a listener is in its cluster. */
export interface ClusterOptions {
  /**
   * The secret of the cluster, the same on every node: at least 32 characters. Nodes prove to each other that they know
   * it, and encrypt their links with it. Without one, nodes on this machine alone form the cluster, with a secret that
   * the backplane keeps.
   */
  readonly secret?: string
  /** The name of this node for people; by default the name of the host and the number of the process. */
  readonly name?: string
  /**
   * Where this node accepts links of other nodes: `tcp://0.0.0.0:0`, or `unix:/path`. By default any free port, of
   * this machine alone if there is no `secret`.
   */
  readonly listen?: string
  /** The address at which other nodes reach `listen`, if it is another one. */
  readonly address?: string
  /**
   * Whether sessions go on while the engine is down and no other node can adopt them; `serve` by default. With
   * `refuse`, requests of sessions get 503 from the end of the lease on.
   */
  readonly whenDown?: 'serve' | 'refuse'
  /** Time for which a heartbeat makes this node a member, in milliseconds. */
  readonly leaseMs?: number
  /** Interval between heartbeats, in milliseconds. */
  readonly heartbeatMs?: number
  /**
   * Called when an operator asks this node to drain, with `trunkline cluster ENGINE drain NAME`. By default the
   * listener is closed, which hands its sessions to the other nodes.
   */
  readonly onDrain?: () => void
  /** The clock of heartbeats; for tests. */
  readonly clock?: Clock
}

/** Table of `ClusterOptions`, for `checkOptions`. */
export const clusterTable: OptionTableOf<ClusterOptions> = {
  secret: 'string',
  name: 'string',
  listen: 'string',
  address: 'string',
  whenDown: ['serve', 'refuse'],
  leaseMs: 'ms',
  heartbeatMs: 'ms',
  onDrain: 'function',
  clock: 'object',
}

/** The options of a node with their defaults. */
export interface NodeSettings
  extends Required<Omit<ClusterOptions, 'secret' | 'address' | 'onDrain'>> {
  readonly backplane: Backplane
  /** The host at which other machines reach this one. */
  readonly host: string
  readonly secret: string | undefined
  readonly address: string | undefined
  readonly onDrain: (() => void) | undefined
}

/** Checks options and adds the defaults. Throws a TypeError for invalid ones. */
export function nodeSettings(
  backplane: Backplane,
  options: ClusterOptions,
  thisHost: { readonly name: string; readonly host: string },
): NodeSettings {
  checkOptions(options, clusterTable)
  const { secret, whenDown = 'serve' } = options
  if (secret !== undefined && secret.length < minSecretLength) {
    throw new TypeError(
      `option "cluster.secret" must have at least ${minSecretLength} characters (got ${secret.length}); make one with "openssl rand -hex 32"`,
    )
  }
  return {
    backplane,
    secret,
    whenDown,
    name: options.name ?? thisHost.name,
    host: thisHost.host,
    listen: options.listen ?? (secret === undefined ? 'tcp://127.0.0.1:0' : 'tcp://0.0.0.0:0'),
    address: options.address,
    onDrain: options.onDrain,
    leaseMs: options.leaseMs ?? limits.nodeLeaseMs.default,
    heartbeatMs: options.heartbeatMs ?? limits.nodeHeartbeatMs.default,
    clock: options.clock ?? systemClock,
  }
}

const minSecretLength = 32
