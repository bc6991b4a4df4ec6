import type { Backplane } from '../../backplane/backplane.ts'
import { BackplaneError, type BackplaneErrorCode } from '../../backplane/backplane-error.ts'
import { formatValue } from '../../util/options.ts'
import { sleep } from '../../util/time/sleep.ts'

/** Throws unless two JSON values are equal. Members that are undefined count as left out. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [canonical(actual), canonical(expected)]
  if (got === wanted) return
  throw new Error(`${what}: expected ${wanted?.slice(0, 500)}, got ${got?.slice(0, 500)}`)
}

/** Throws unless a condition holds. */
export function expectThat(condition: boolean, what: string): void {
  if (!condition) throw new Error(`expected that ${what}`)
}

/** Throws unless a promise rejects with a BackplaneError of one of the codes. Resolves to that error. */
export async function expectCode(
  promise: Promise<unknown>,
  ...codes: readonly BackplaneErrorCode[]
): Promise<BackplaneError> {
  const [outcome] = await Promise.allSettled([promise])
  if (outcome.status === 'fulfilled') {
    throw new Error(`expected "${codes.join('" or "')}", got ${formatValue(outcome.value)}`)
  }
  const { reason } = outcome
  if (reason instanceof BackplaneError && codes.includes(reason.code)) return reason
  throw new Error(`expected "${codes.join('" or "')}", got ${String(reason)}`, { cause: reason })
}

/** Throws unless an action throws a TypeError or its promise rejects with one. */
export async function expectTypeError(action: () => unknown, what: string): Promise<void> {
  try {
    await action()
  } catch (error) {
    if (error instanceof TypeError) return
    throw new Error(`${what}: expected a TypeError, got ${String(error)}`, { cause: error })
  }
  throw new Error(`${what}: expected a TypeError`)
}

/** Resolves once a condition holds, which it checks again and again. The test runner ends one that never does. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(5).done
}

/** Repeats an operation until it succeeds, as long as it fails with `down` or `unknown`. */
export async function retried<T>(operation: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await operation()
    } catch (error) {
      const isPassing =
        error instanceof BackplaneError && (error.code === 'down' || error.code === 'unknown')
      if (!isPassing) throw error
      await sleep(5).done
    }
  }
}

/** Returns all names of a set. */
export async function allNames({ store }: Backplane, set: string): Promise<string[]> {
  const names: string[] = []
  for await (const page of store.names(set)) names.push(...page)
  return names
}

/** Returns JSON with sorted members. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
