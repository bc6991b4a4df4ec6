import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../scripts/steps.js'
import { environment } from './servers.js'

/**
 * Runs `trunkline check` on each server of a configuration file, so that it has its arguments and variables.
 * Resolves to the findings that are no `ok`, by server.
 */
export async function checkAll(file, names) {
  const rows = []
  for (const name of names) {
    const report = await check(file, name)
    const findings = (report.steps ?? []).flatMap(({ step, findings }) =>
      findings
        .filter(({ status }) => status === 'warn' || status === 'fail')
        .map(finding => ({ step, ...finding })),
    )
    const { officialSdkHabits: habits } = report
    rows.push({ name, error: report.error?.message, habits, findings })
    console.error(`${name}: ${findings.length} findings`)
  }
  return rows
}

/** Returns why a finding is due to the environment of these runs, and no defect; undefined for any other. */
export function environmental({ name, step }) {
  return name === 'postgres' && step === 'capabilities' ? 'there is no database' : undefined
}

function check(file, name) {
  const program = join(root, 'dist/cli/main.js')
  return new Promise(resolve => {
    execFile(
      process.execPath,
      [program, 'check', name, '--config', file, '--json'],
      { env: environment, timeout: 300_000, maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout, stderr) => {
        try {
          resolve(JSON.parse(stdout))
        } catch {
          resolve({ error: { message: stderr.trim().split('\n').at(-1) || 'no report' } })
        }
      },
    )
  })
}
