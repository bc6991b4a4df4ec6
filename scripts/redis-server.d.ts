import type { ChildProcess } from 'node:child_process'

/** The program of Redis; undefined if it is not installed. */
export declare const redisProgram: string | undefined

/** A Redis on the loopback interface, with its data in a temporary folder. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  /** With `--cluster-enabled`: the port for other engines of the cluster. */
  readonly busPort: number
  /** Stops the process from running, and lets it run again. */
  pause(): void
  resume(): void
  /** Kills the process. */
  kill(): Promise<void>
  /** Starts it again on the same port, with its data or without. */
  restart(options?: { readonly isEmpty?: boolean }): Promise<void>
  close(): Promise<void>
}

/**
 * Starts the program with its arguments. Resolves to the process once it has printed `ready`; to undefined if it cannot
 * listen on a port.
 */
export declare function startRedis(
  args: readonly string[],
  ready?: string,
): Promise<ChildProcess | undefined>

/** Starts Redis. `settings` are those of its configuration file, as arguments: `['--maxmemory', '10mb']`. */
export declare function redisServer(settings?: readonly string[]): Promise<RedisServer>
