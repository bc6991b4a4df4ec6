import { describeIssue } from '../../router/config/issue.ts'
import type { RouterConfig } from '../../router/config/read.ts'
import { readPolicyFile } from '../access/policy-source.ts'
import { unmatchedPatterns } from '../access/unmatched.ts'
import { exitCodes } from '../exit.ts'
import type { Invocation } from '../invocation.ts'
import { oneLine } from '../terminal.ts'
import { workerCount } from '../workers/count.ts'
import type { Plan } from './plan.ts'

/** Prints what would be served, and how the terms of another host were translated. Returns the exit code. */
export async function printDryRun(
  { input, terminal, env }: Invocation,
  plan: Plan,
  config: RouterConfig | undefined,
): Promise<number> {
  const enabled = Object.entries(plan.servers).filter(([, { disabled }]) => disabled !== true)
  const invalid = enabled.flatMap(([name, { configError }]) =>
    configError === undefined ? [] : [{ name, reason: configError }],
  )
  const servers = enabled
    .filter(([, { configError }]) => configError === undefined)
    .map(([name]) => name)
  const file = config?.file
  const policy =
    typeof plan.policy === 'string' ? await readPolicyFile(plan.policy, env) : plan.policy
  const unmatched = policy === undefined ? [] : unmatchedPatterns(policy, plan.servers)
  if (input.has('json')) {
    const notes = config?.notes.map(issue => describeIssue(issue, file)) ?? []
    terminal.json({
      file,
      addresses: plan.listen,
      servers,
      invalid,
      notes,
      ...(policy && { unmatched }),
    })
    return exitCodes.ok
  }
  for (const note of config?.notes ?? []) terminal.note(describeIssue(note, file))
  const state = invalid.length === 0 ? 'valid' : `${invalid.length} of ${enabled.length} invalid`
  terminal.line(file === undefined ? 'no configuration: demo servers' : `${file}: ${state}`)
  terminal.line(`Would serve ${plan.listen.join(', ')}`)
  const workers = workerCount(input)
  if (workers > 1) {
    terminal.line(`with ${workers} workers, each with its own instances of local programs`)
  }
  for (const name of servers) terminal.line(`  ${name}`)
  for (const { name, reason } of invalid) terminal.line(`  ✗ ${name} (${oneLine(reason, 300)})`)
  for (const { rule, pattern, reason } of unmatched) {
    terminal.line(`  policy rule "${rule}": "${pattern}" matches nothing: ${reason}`)
  }
  return exitCodes.ok
}
