import type { Traffic } from '../../util/traffic.ts'
import type { Registry } from './registry.ts'
import type { MetricFamilies } from './table.ts'

/** What tells how many bytes have passed. */
export interface TrafficSource {
  /** Between an endpoint and its callers. */
  readonly traffic?: Traffic
  /** Between a router and its servers, by their names. */
  upstreamTraffic?(): Iterable<readonly [server: string, traffic: Traffic]>
}

/** Has bytes looked up at every scrape; `server` is what the endpoint is called. */
export function measureTraffic(
  registry: Registry,
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
