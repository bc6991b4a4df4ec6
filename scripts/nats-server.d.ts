/** The program of NATS; undefined if it is not installed. */
export declare const natsProgram: string | undefined

/** A NATS with JetStream on the loopback interface, with its data in a temporary folder. */
export interface NatsServer extends AsyncDisposable {
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

/** Starts NATS. `settings` are further lines of its configuration file: `max_payload: 9MB`. */
export declare function natsServer(settings?: string): Promise<NatsServer>
