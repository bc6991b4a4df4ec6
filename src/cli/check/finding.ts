/** How a finding or a step is rated. */
export type FindingStatus = 'ok' | 'warn' | 'fail' | 'not applicable'

/** One observation about the server. */
export interface Finding {
  readonly status: FindingStatus
  /** What was observed. */
  readonly message: string
  /** What to change. */
  readonly advice?: string
  /** Whether the official SDK makes its servers behave like this, so that their authors cannot change it. */
  readonly habit?: true
}

/** A finding for correct behavior. */
export function ok(message: string): Finding {
  return { status: 'ok', message }
}

/** A finding for behavior that no rule forbids, with advice. */
export function hint(message: string, advice: string): Finding {
  return { status: 'ok', message, advice }
}

/** A warning about behavior that servers made with the official SDK have. */
export function habit(message: string, advice: string): Finding {
  return { ...warn(message, advice), habit: true }
}

/** A finding for behavior that works but will confuse some clients. */
export function warn(message: string, advice: string): Finding {
  return { status: 'warn', message, advice }
}

/** A finding for behavior that breaks a rule clients rely on. */
export function fail(message: string, advice: string): Finding {
  return { status: 'fail', message, advice }
}

/** A finding for a check that does not apply to this server or transport. */
export function notApplicable(message: string): Finding {
  return { status: 'not applicable', message }
}

const severityOrder: readonly FindingStatus[] = ['not applicable', 'ok', 'warn', 'fail']

/** Returns the most severe status of the findings. */
export function worst(findings: readonly Finding[]): FindingStatus {
  const index = Math.max(0, ...findings.map(({ status }) => severityOrder.indexOf(status)))
  return severityOrder[index] ?? 'not applicable'
}

/** Keeps at most `max` warnings and failures, and adds a finding with the number of omitted ones. */
export function limitFindings(findings: readonly Finding[], max: number): readonly Finding[] {
  const bad = findings.filter(({ status }) => status === 'fail' || status === 'warn')
  if (bad.length <= max) return findings
  const kept = findings.filter(finding => !bad.includes(finding) || bad.indexOf(finding) < max)
  const hidden = bad.slice(max)
  const count = { status: worst(hidden), message: `and ${hidden.length} more like these` }
  return [...kept, count]
}
