import { limits } from '../../util/limits/limits.ts'
import { oneLine } from '../terminal.ts'
import type { CheckContext } from './context.ts'
import { type Finding, fail, hint, notApplicable, ok, warn } from './finding.ts'
import { exitText } from './wire/child-wire.ts'

const noProcess = notApplicable('the server is not a process started by this check')

/** Step `stdout`: checks that the process writes only messages to stdout. */
export async function stdout(context: CheckContext): Promise<readonly Finding[]> {
  if (context.where.kind !== 'child') return [noProcess]
  // A program is started several times, and prints the same each time.
  const junk = context.children
    .map(child => child.junk)
    .reduce((most, lines) => (lines.length > most.length ? lines : most), [])
  const [first] = junk
  if (first === undefined) return [ok('stdout has only messages')]
  return [
    fail(
      `${junk.length} invalid ${junk.length === 1 ? 'line' : 'lines'} on stdout, the first: ${oneLine(first, 120)}`,
      'Stdout is reserved for the protocol. Print to stderr instead: console.error(…), or print(…, file=sys.stderr).',
    ),
  ]
}

/** Step `stderr`: shows what the process writes to stderr. */
export async function stderr(context: CheckContext): Promise<readonly Finding[]> {
  if (context.where.kind !== 'child') return [noProcess]
  const output = context.children.map(child => child.stderr.trim()).find(text => text !== '')
  if (output === undefined) return [notApplicable('no output on stderr')]
  return [ok(`log output on stderr: ${oneLine(output, 200)}`)]
}

/** Step `shutdown`: checks that the process exits when its stdin is closed. */
export async function shutdown(context: CheckContext): Promise<readonly Finding[]> {
  const child = context.children.find(({ incoming }) => incoming.closedReason === undefined)
  if (context.where.kind !== 'child' || child === undefined) return [noProcess]
  const begin = performance.now()
  const exit = await child.endInput(limits.checkExitMs.default)
  const ms = Math.round(performance.now() - begin)
  if (exit === undefined) {
    return [
      // Not a failure: the protocol expects clients to send SIGTERM then.
      warn(
        `the process is still running ${ms} ms after its stdin was closed`,
        'Exit when stdin ends: a client that crashes sends no goodbye, and would leave the process behind.',
      ),
    ]
  }
  if (exit.code === 0 && ms > limits.childEndMs.default) {
    return [
      hint(
        `the process exits ${ms} ms after its stdin was closed`,
        'Exit at once: clients send SIGTERM when they have waited for a few seconds.',
      ),
    ]
  }
  if (exit.code === 0) return [ok(`the process exits ${ms} ms after its stdin was closed`)]
  return [
    hint(
      `${exitText(exit)} after its stdin was closed`,
      'Exit with code 0: the end of stdin is not an error.',
    ),
  ]
}
