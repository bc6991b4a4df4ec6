import type { ChildProcess } from 'node:child_process'
import type { EngineServer } from './engine-server.js'

/** The program of Redis; undefined if it is not installed. */
export declare const redisProgram: string | undefined

/**
 * Starts Redis. `settings` are those of its configuration file, as arguments: `['--maxmemory', '10mb']`. With
 * `--cluster-enabled` its second port is for other engines of the cluster.
 */
export declare function redisServer(settings?: readonly string[]): Promise<EngineServer>

/**
 * Starts the program with its arguments. Resolves to the process once it has printed `ready`; to undefined if it cannot
 * listen on a port.
 */
export declare function startRedis(
  args: readonly string[],
  ready?: string,
): Promise<ChildProcess | undefined>
