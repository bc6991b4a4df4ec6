import { randomHex } from '../../util/random.ts'
import { busCases } from './bus-cases.ts'
import { faultCases } from './fault-cases.ts'
import type { BackplaneCase, BackplaneHarness, CaseDefinition } from './harness.ts'
import { logCases } from './log-cases.ts'
import { membershipCases } from './membership-cases.ts'
import { ownershipCases } from './ownership-cases.ts'
import { rateCases } from './rate-cases.ts'
import { sharingCases } from './sharing-cases.ts'
import { storeCases } from './store-cases.ts'

/**
 * Returns the requirements that every backplane must meet, as cases for any test runner:
 *
 *     for (const { name, run } of await backplaneContract({ connect })) test(name, run)
 *
 * Without `empty`, `cut` and `stall` the cases that need them are left out; the same is true of an engine that
 * is not shared. Cases that wait for the end of a time to live take a second or less.
 */
export async function backplaneContract(
  harness: BackplaneHarness,
): Promise<readonly BackplaneCase[]> {
  const sample = await harness.connect()
  await sample.close()
  const { isShared } = sample
  const isPossible = ({ needs }: CaseDefinition) => {
    if (needs === undefined) return true
    return needs === 'shared' ? isShared : isShared && harness[needs] !== undefined
  }
  return definitions.filter(isPossible).map(({ name, run }) => ({
    name,
    run: async () => {
      const one = await harness.connect()
      const other = isShared ? await harness.connect() : one
      try {
        await run({ harness, one, other, key: `contract-${randomHex(6)}` })
      } finally {
        await Promise.all([one.close(), other.close()])
      }
    },
  }))
}

const definitions: readonly CaseDefinition[] = [
  ...storeCases,
  ...ownershipCases,
  ...logCases,
  ...membershipCases,
  ...rateCases,
  ...busCases,
  ...sharingCases,
  ...faultCases,
]
