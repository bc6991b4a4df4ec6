import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../scripts/steps.js'

/** Runs `trunkline check` on each server. Resolves to the findings that are no `ok`, by server. */
export async function checkAll(commands) {
  const rows = []
  for (const { name, command, args, cwd, env } of commands) {
    const report = await check(command, args, cwd, env)
    const findings = (report.steps ?? []).flatMap(({ step, findings }) =>
      findings
        .filter(({ status }) => status === 'warn' || status === 'fail')
        .map(finding => ({ step, ...finding })),
    )
    rows.push({ name, error: report.error?.message, findings })
    console.error(`${name}: ${findings.length} findings`)
  }
  return rows
}

function check(command, args, cwd, env) {
  const program = join(root, 'dist/cli/main.js')
  return new Promise(resolve => {
    execFile(
      process.execPath,
      [program, 'check', '--json', '--', command, ...args],
      { cwd, env, timeout: 300_000, maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout) => {
        try {
          resolve(JSON.parse(stdout))
        } catch {
          resolve({ error: { message: 'no report' } })
        }
      },
    )
  })
}
