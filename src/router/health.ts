import type { HealthReport } from '../observe/health/health.ts'
import type { ServerStatus } from './status.ts'

/** The health of a router, with the number of undelivered calls and the state of each server. */
export type RouterHealth = HealthReport & Required<Pick<HealthReport, 'undelivered' | 'servers'>>

/** Returns the health of a router: `down` only if no server can be called. */
export function healthOf(servers: readonly ServerStatus[], undelivered: number): RouterHealth {
  const unhealthy = servers.filter(({ level }) => level !== 'ok')
  const isDown = servers.length > 0 && servers.every(({ level }) => level === 'down')
  const level = unhealthy.length === 0 ? 'ok' : isDown ? 'down' : 'degraded'
  const reason = unhealthy.map(({ name, summary }) => `${name}: ${summary}`).join('; ')
  return {
    level,
    ...(reason !== '' && { reason }),
    undelivered,
    servers: servers.map(
      ({ name, level: each, summary, retryInMs, action, lastFailure }) =>
        [name, { level: each, reason: summary, retryInMs, action, lastFailure }] as const,
    ),
  }
}
