/** The program of Redis; undefined if it is not installed. */
export declare const redisProgram: string | undefined

/** A Redis on the loopback interface, with its data in a temporary folder. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  /** Stops the process from running, and lets it run again. */
  pause(): void
  resume(): void
  /** Kills the process. */
  kill(): Promise<void>
  /** Starts it again on the same port, with its data or without. */
  restart(options?: { readonly isEmpty?: boolean }): Promise<void>
  close(): Promise<void>
}

/** Starts Redis. `settings` are those of its configuration file, as arguments: `['--maxmemory', '10mb']`. */
export declare function redisServer(settings?: readonly string[]): Promise<RedisServer>
