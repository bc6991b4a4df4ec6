import type { ChildProcess } from 'node:child_process'

/** The engine of a cluster, on the loopback interface, with its data in a temporary folder. */
export interface EngineServer extends AsyncDisposable {
  readonly port: number
  /** All ports that it listens on; the first is `port`. */
  readonly ports: readonly number[]
  /** Stops the process from running, and lets it run again. */
  pause(): void
  resume(): void
  /** Kills the process. */
  kill(): Promise<void>
  /** Starts it again on the same ports, with its data or without. */
  restart(options?: { readonly isEmpty?: boolean }): Promise<void>
  /** Kills the process and removes its folder. */
  close(): Promise<void>
}

/** How to start an engine. */
export interface EngineServerOptions {
  /** The temporary folder of the engine, which `close` removes. */
  readonly folder: string
  /** The folder in it that holds the data. */
  readonly data: string
  /** The number of ports that the engine needs; 1 by default. */
  readonly portCount?: number
  /** Starts the process. Resolves to undefined if it cannot listen on the ports. */
  start(...ports: number[]): Promise<ChildProcess | undefined>
}

/** Starts an engine on free ports. */
export declare function engineServer(options: EngineServerOptions): Promise<EngineServer>

/** Kills a process, also one that was paused. */
export declare function killProcess(child: ChildProcess): Promise<void>

/**
 * Starts a program. Resolves to the process once it has printed `ready`; to undefined if it cannot listen on a port.
 * Rejects with what it printed if it ends otherwise.
 */
export declare function startProgram(
  program: string,
  args: readonly string[],
  ready: string,
): Promise<ChildProcess | undefined>
