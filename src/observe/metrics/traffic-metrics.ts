import type { Traffic } from '../../util/traffic.ts'
import type { MetricRegistry } from './registry.ts'
import type { MetricFamilies } from './table.ts'

/** A source of byte counts. */
export interface TrafficSource {
  /** The bytes between an endpoint and its callers. */
  readonly traffic?: Traffic
  /** The bytes between a router and its upstream servers, by server name. */
  upstreamTraffic?(): Iterable<readonly [server: string, traffic: Traffic]>
}

/** Updates the traffic metrics at every scrape; `server` is the name of the endpoint. */
export function measureTraffic(
  registry: MetricRegistry,
  { number }: MetricFamilies,
  source: TrafficSource,
  server: string,
): void {
  registry.onScrape(() => {
    const { traffic } = source
    if (traffic !== undefined) {
      number('trunkline_received_bytes_total').at(server).value = traffic.received
      number('trunkline_sent_bytes_total').at(server).value = traffic.sent
    }
    for (const [name, { received, sent }] of source.upstreamTraffic?.() ?? []) {
      number('trunkline_upstream_received_bytes_total').at(name).value = received
      number('trunkline_upstream_sent_bytes_total').at(name).value = sent
    }
  })
}
