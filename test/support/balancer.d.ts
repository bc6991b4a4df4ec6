/** A load balancer without stickiness. */
export interface Balancer {
  readonly address: string
  close(): Promise<void>
}

/**
 * A load balancer without stickiness: each request goes to the next of the addresses, and to the one after it if that
 * refuses the connection. `addresses` may change.
 */
export declare function balancer(addresses: readonly string[]): Promise<Balancer>
