import type { Clock } from '../../../util/time/clock.ts'
import { type PreparedConnection, RedisConnection } from '../connection.ts'
import type { RedisKeys } from '../keys.ts'
import type { DialEngine, OpenRaw } from '../raw-connection.ts'
import type { EngineAddress } from './address.ts'
import { ClusterMap } from './cluster-map.ts'
import { type CommandOptions, type RedisCommands, singleEngine } from './commands.ts'
import { primaryConnection } from './sentinels.ts'
import { ShardedCommands } from './sharded-commands.ts'

/** How the parts of a backplane reach their engines. */
export interface Routes {
  /** Makes the connections for commands. */
  commands(options: CommandOptions): RedisCommands
  /** Leads to the engine of the members. */
  readonly heartbeats: OpenRaw
  /** Leads to the engine of the channels. */
  readonly subscriber: OpenRaw
  readonly publishCommand: 'PUBLISH' | 'SPUBLISH'
  /** Whether keys and channels can move to another engine. */
  readonly followsKeys: boolean
}

/** Returns the routes to the engines of an address. */
export function routesTo(
  address: EngineAddress,
  dial: DialEngine,
  clock: Clock,
  keys: RedisKeys,
): Routes {
  if (address.kind === 'cluster')
    return shardRoutes(new ClusterMap(address, dial, clock), dial, keys)
  const [url = ''] = address.urls
  const open = address.kind === 'sentinel' ? primaryConnection(address, dial, clock) : dial(url)
  return {
    commands: options => {
      const prepare = (connection: PreparedConnection) => options.prepare(connection, keys.state)
      return singleEngine(new RedisConnection({ ...options, open, prepare }))
    },
    heartbeats: open,
    subscriber: open,
    publishCommand: 'PUBLISH',
    followsKeys: false,
  }
}

function shardRoutes(map: ClusterMap, dial: DialEngine, keys: RedisKeys): Routes {
  return {
    commands: options => new ShardedCommands({ ...options, map, dial, stateKey: keys.state }),
    heartbeats: map.connectionFor(keys.state),
    subscriber: map.connectionFor(keys.channel('')),
    publishCommand: 'SPUBLISH',
    followsKeys: true,
  }
}
