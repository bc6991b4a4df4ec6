import { redactText } from '../../observe/log/redact.ts'
import type { Router } from '../../router/router.ts'
import type { InstanceStatus, ServerStatus } from '../../router/status.ts'
import type { InstanceRow, ServerRow } from '../wire.ts'

/** Returns a row for every server, in order. Error output is not in it. */
export function fleetRows(
  router: Pick<Router, 'hidden'>,
  servers: readonly ServerStatus[],
): readonly ServerRow[] {
  const hiddenTools = new Map<string, number>()
  for (const { server, what } of router.hidden()) {
    if (what === 'tool') hiddenTools.set(server, (hiddenTools.get(server) ?? 0) + 1)
  }
  return servers.map(status => serverRow(status, hiddenTools.get(status.name) ?? 0))
}

/** Returns the row of one server. */
export function serverRow(status: ServerStatus, hidden: number): ServerRow {
  const { name, level, reason, retryInMs, action, tools, prompts, resources } = status
  const instances = status.instances.map(instanceRow)
  return {
    name,
    level,
    ...(reason !== undefined && { reason: redactText(reason) }),
    ...(retryInMs !== undefined && { retryInMs: Math.round(retryInMs) }),
    ...(action !== undefined && { action: redactText(action) }),
    isQuarantined: instances.some(({ state }) => state === 'quarantined'),
    tools,
    hidden,
    prompts,
    resources,
    restarts: instances.reduce((sum, { restarts }) => sum + restarts, 0),
    instances,
  }
}

function instanceRow(status: InstanceStatus): InstanceRow {
  const { key, label, state, reason, retryInMs, breaker, inFlight, latencyMs, errorRate } = status
  const { restarts, revision, websocket, pids } = status
  return {
    key,
    label: redactText(label),
    state,
    ...(reason !== undefined && { reason: redactText(reason) }),
    ...(retryInMs !== undefined && { retryInMs: Math.round(retryInMs) }),
    breaker,
    inFlight,
    latencyMs: Math.round(latencyMs * 10) / 10,
    errorRate: Math.round(errorRate * 1000) / 1000,
    restarts,
    ...(revision !== undefined && { revision }),
    ...(websocket && { websocket }),
    pids,
  }
}
