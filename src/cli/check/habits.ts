import { worst } from './finding.ts'
import type { StepReport } from './steps.ts'

/** The last step that finds habits of the official SDK. */
export const lastStepWithHabits = 'malformed'

/** The reports of a check, and how many habits of the official SDK no longer count. */
export interface FoldedReports {
  readonly reports: readonly StepReport[]
  readonly folded: number
}

/**
 * Leaves the habits of the official SDK out of the status of the steps, if the server shows the pattern of
 * that SDK: it accepts any cursor, and either does not reject malformed input as JSON-RPC requires, or has
 * two more habits. Their findings stay. The author of such a server cannot change them, and users who see
 * the same warnings for every server stop reading them.
 */
export function foldHabits(reports: readonly StepReport[]): FoldedReports {
  const habits = reports.flatMap(({ step, findings }) =>
    findings.filter(({ habit }) => habit).map(() => step),
  )
  const isOfficial =
    habits.includes('lists') && (habits.includes(lastStepWithHabits) || habits.length >= 3)
  if (!isOfficial) return { reports, folded: 0 }
  const folded = reports.map(report => {
    const others = report.findings.filter(({ habit }) => !habit)
    if (others.length === report.findings.length) return report
    return { ...report, status: others.length === 0 ? ('ok' as const) : worst(others) }
  })
  return { reports: folded, folded: habits.length }
}
