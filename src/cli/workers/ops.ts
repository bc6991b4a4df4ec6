import { withClusterHealth } from '../../observe/cluster/health.ts'
import { type HealthReport, Ops } from '../../observe/health/health.ts'
import { listenOps, type OpsListener } from '../../observe/health/ops-server.ts'
import type { Observer } from '../../observe/observe.ts'
import type { Router } from '../../router/router.ts'
import type { Plan } from '../up/plan.ts'
import type { Worker } from './worker.ts'

/** What `RouterOps` serves. */
export interface RouterOpsSetup {
  readonly plan: Pick<Plan, 'metrics' | 'auth'>
  readonly router: Pick<Router, 'health'>
  readonly observer: Observer
  readonly worker: Worker | undefined
}

/** Health and metrics of a router. Any worker answers with the metrics of all of them. */
export class RouterOps {
  /** Health, and metrics unless they are off or have an address of their own, for the addresses of the router. */
  readonly beside: Ops
  readonly #all: Ops
  #listener: OpsListener | undefined

  constructor({ plan, router, observer, worker }: RouterOpsSetup) {
    worker?.setMetrics(() => observer.metricsText())
    this.#all =
      worker === undefined
        ? observer.ops
        : new Ops({
            health: () => withClusterHealth(router.health()),
            metrics: () => worker.metrics(),
            onError: error => observer.log?.write('error', 'health or metrics failed', { error }),
          })
    this.beside =
      plan.metrics === true ? this.#all : new Ops({ health: () => healthOf(router, plan) })
  }

  /** Serves health and metrics at a separate address. */
  async listen(address: string): Promise<OpsListener> {
    this.#listener = await listenOps(this.#all, address)
    return this.#listener
  }

  /** Makes `/readyz` return 503 from now on, at every address. */
  async retire(): Promise<void> {
    await this.#all.close()
  }

  /** Closes the separate address. */
  async close(): Promise<void> {
    await this.#listener?.close()
  }
}

/** Returns the health for `/readyz`; where callers are authenticated, nothing of the servers, because anybody may ask. */
function healthOf(router: Pick<Router, 'health'>, { auth }: Pick<Plan, 'auth'>): HealthReport {
  const report = withClusterHealth(router.health())
  return auth === undefined ? report : { level: report.level }
}
