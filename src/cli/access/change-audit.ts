import { createHash } from 'node:crypto'
import type { AuditSink } from '../../observe/audit/record.ts'
import { events } from '../../observe/events.ts'
import type { AccessPolicy } from '../../router/access/policy.ts'

/** Records every reload of the configuration. Returns a function that ends this. */
export function recordChanges(audit: AuditSink): () => void {
  return events.configReloaded.subscribe(({ ok, added, removed, changed, problems = [] }) => {
    const parts = Object.entries({ added, removed, changed }).flatMap(([kind, names = []]) =>
      names.length === 0 ? [] : [`${kind} ${names.join(', ')}`],
    )
    void audit.record({
      event: 'config',
      outcome: ok ? 'applied' : 'rejected',
      reason: [...parts, ...problems].join('; ') || 'no changes of servers',
    })
  })
}

/** Records that a policy is in effect, by its digest. */
export function recordPolicy(audit: AuditSink | undefined, policy: AccessPolicy | undefined): void {
  if (audit === undefined) return
  const digest = createHash('sha256')
    .update(JSON.stringify(policy ?? null))
    .digest('hex')
  const reason =
    policy === undefined ? 'no policy' : `${policy.rules.length} rules, SHA-256 ${digest}`
  void audit.record({ event: 'policy', outcome: 'applied', reason })
}
