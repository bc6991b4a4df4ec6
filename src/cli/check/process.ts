import { limits } from '../../util/limits/limits.ts'
import { oneLine } from '../terminal.ts'
import { exitText } from './child-wire.ts'
import type { Probe } from './context.ts'
import { type Finding, fail, none, ok, warn } from './finding.ts'

const noProgram = none('the server is no program that was started here')

/** Whether a program prints nothing but messages where messages belong. */
export async function stdout(probe: Probe): Promise<readonly Finding[]> {
  if (probe.where.kind !== 'child') return [noProgram]
  const junk = probe.children.flatMap(child => child.junk)
  const [first] = junk
  if (first === undefined) return [ok('nothing but messages on stdout')]
  return [
    fail(
      `${junk.length} ${junk.length === 1 ? 'line' : 'lines'} on stdout that are no messages, the first: ${oneLine(first, 120)}`,
      'Standard output belongs to the protocol. Print on stderr instead: console.error(…), or print(…, file=sys.stderr).',
    ),
  ]
}

/** What a program has to say besides. */
export async function stderr(probe: Probe): Promise<readonly Finding[]> {
  if (probe.where.kind !== 'child') return [noProgram]
  const said = probe.children.map(child => child.stderr.trim()).find(text => text !== '')
  if (said === undefined) return [none('nothing was printed on stderr')]
  return [ok(`on stderr, where it belongs: ${oneLine(said, 200)}`)]
}

/** Whether a program leaves when nobody talks to it any more. */
export async function shutdown(probe: Probe): Promise<readonly Finding[]> {
  const child = probe.children.find(({ inbox }) => inbox.gone === undefined)
  if (probe.where.kind !== 'child' || child === undefined) return [noProgram]
  const begin = performance.now()
  const exit = await child.endInput(limits.checkExitMs.default)
  const ms = Math.round(performance.now() - begin)
  if (exit === undefined) {
    return [
      fail(
        `the program still runs ${ms} ms after the end of its input`,
        'Exit when standard input ends: clients that crash cannot say goodbye, and leave the program behind.',
      ),
    ]
  }
  if (exit.code === 0) return [ok(`the program exits ${ms} ms after the end of its input`)]
  return [
    warn(
      `${exitText(exit)} after the end of its input`,
      'Exit with code 0: the end of the input is no failure.',
    ),
  ]
}
