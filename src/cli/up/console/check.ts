import type { ConsoleCheck } from '../../../console/options.ts'
import type { CheckStepRow } from '../../../console/wire.ts'
import type { RouterConfig } from '../../../router/config/read.ts'
import { CheckContext } from '../../check/context.ts'
import { foldHabits } from '../../check/habits.ts'
import { runSteps, type StepReport, steps } from '../../check/steps.ts'
import { checkTargetOf } from '../../check/target.ts'
import { configuredTarget } from '../../target/config-servers.ts'
import type { CommandTarget } from '../../target/target.ts'

/** What the checks of the console are about. */
export interface UpCheckSetup {
  /** Returns the configuration that is in effect; undefined without a file. */
  readonly config: () => RouterConfig | undefined
  /** Returns the addresses of the router. */
  readonly addresses: () => readonly string[]
}

/** The name under which the router itself is checked. */
const routerTarget = 'router'

/** Checks the servers of the configuration, and the router as callers reach it, with the steps of `trunkline check`. */
export function upCheck(setup: UpCheckSetup): ConsoleCheck {
  const targets = (): ReadonlyMap<string, CommandTarget> => targetsOf(setup)
  return {
    targets: () => [...targets().keys()],
    run: async (name, signal, onStep) => {
      const target = targets().get(name)
      if (target === undefined) throw new TypeError(`there is no server "${name}"`)
      const { headers } = target
      const context = new CheckContext({ where: checkTargetOf(target), headers, signal })
      try {
        const all = await runSteps(context, steps, report => onStep(stepRow(report)))
        // As in the command, habits of the official SDK do not count.
        for (const report of foldHabits(all).reports) onStep(stepRow(report))
      } finally {
        await context.close()
      }
    },
  }
}

function targetsOf({ config, addresses }: UpCheckSetup): ReadonlyMap<string, CommandTarget> {
  const targets = new Map<string, CommandTarget>()
  const where = addresses().find(address => address.startsWith('http'))
  if (where !== undefined) targets.set(routerTarget, { name: routerTarget, where })
  for (const [name, options] of Object.entries(config()?.servers ?? {})) {
    const target = options.disabled === true ? undefined : configuredTarget(name, options)
    if (target !== undefined) targets.set(name, target)
  }
  return targets
}

function stepRow({ step, status, findings }: StepReport): CheckStepRow {
  const question = steps.find(({ name }) => name === step)?.question ?? ''
  return {
    step,
    question,
    status,
    findings: findings.map(({ status: its, message, advice }) => ({
      status: its,
      message,
      ...(advice !== undefined && { advice }),
    })),
  }
}
