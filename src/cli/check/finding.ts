/** What is to be thought of something that was seen. */
export type Verdict = 'ok' | 'warn' | 'fail' | 'not applicable'

/** One thing that was seen, and what to do about it. */
export interface Finding {
  readonly verdict: Verdict
  readonly saw: string
  /** What to change; only where something should be. */
  readonly advice?: string
}

/** Something is as it should be. */
export function ok(saw: string): Finding {
  return { verdict: 'ok', saw }
}

/** Something works, and yet some client will stumble over it. */
export function warn(saw: string, advice: string): Finding {
  return { verdict: 'warn', saw, advice }
}

/** Something breaks a rule that clients rely on. */
export function fail(saw: string, advice: string): Finding {
  return { verdict: 'fail', saw, advice }
}

/** Something that this server, or the way to it, does not have. */
export function none(saw: string): Finding {
  return { verdict: 'not applicable', saw }
}

const gravity: readonly Verdict[] = ['not applicable', 'ok', 'warn', 'fail']

/** The gravest of some verdicts. */
export function worst(findings: readonly Finding[]): Verdict {
  const most = Math.max(0, ...findings.map(({ verdict }) => gravity.indexOf(verdict)))
  return gravity[most] ?? 'not applicable'
}

/** As many findings as help; the rest in one that counts them. */
export function bounded(findings: readonly Finding[], most: number): readonly Finding[] {
  const bad = findings.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
  if (bad.length <= most) return findings
  const kept = findings.filter(finding => !bad.includes(finding) || bad.indexOf(finding) < most)
  const hidden = bad.slice(most)
  const count = { verdict: worst(hidden), saw: `and ${hidden.length} more of the same` }
  return [...kept, count]
}
