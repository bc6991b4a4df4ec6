import type { EngineServer } from './engine-server.js'

/** The program of NATS; undefined if it is not installed. */
export declare const natsProgram: string | undefined

/** Starts NATS with JetStream. `settings` are further lines of its configuration file: `max_payload: 9MB`. */
export declare function natsServer(settings?: string): Promise<EngineServer>
