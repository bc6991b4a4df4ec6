/** Resolves to a port of the loopback interface that nobody listens on. */
export declare function freePort(): Promise<number>
