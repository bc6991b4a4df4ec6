import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { Program, type ProgramOptions } from './program.ts'

/** Stands for a member that one of the two servers does not send. */
export const absent = 'absent'

/** A place where a server and its port differ on the wire. */
export interface Difference {
  /** The step, and the path of the member below its outcome. In a known one, `*` stands for any text. */
  readonly at: string
  /** What the original sends. In a known one, possibly a pattern. */
  readonly original: unknown
  /** What the port sends. In a known one, possibly a pattern. */
  readonly port: unknown
}

/** What to do with a server. Its result is compared with that of the other server. */
export type Step = readonly [name: string, run: (program: Program) => Promise<unknown>]

/** The same request to both servers. */
export function request(name: string, method: string, params?: object): Step {
  return [name, program => program.outcome(method, params)]
}

/** The same call of a tool to both servers. */
export function call(tool: string, args: object | undefined, name = JSON.stringify(args)): Step {
  return request(`${tool} ${name}`, 'tools/call', { name: tool, arguments: args })
}

/** Runs the steps with both servers, side by side. Returns every difference between their outcomes. */
export async function compare(
  original: ProgramOptions,
  port: ProgramOptions,
  steps: readonly Step[],
  normalize: (text: string) => string = text => text,
): Promise<readonly Difference[]> {
  const programs = [new Program(original), new Program(port)] as const
  const found: Difference[] = []
  const both: readonly Step[] = [['initialize', program => program.initialize()], ...steps]
  try {
    for (const [name, run] of both) {
      const outcomes = await Promise.all(programs.map(run))
      const [theirs, ours] = outcomes.map(outcome => JSON.parse(normalize(JSON.stringify(outcome))))
      diff(`${name}:`, theirs, ours, found)
    }
  } finally {
    await Promise.all(programs.map(program => program.stop()))
  }
  return found
}

/** Expects that every difference is known, and that every known one occurs. */
export function expectKnown(found: readonly Difference[], known: readonly Difference[]): void {
  const used = new Set<Difference>()
  const unknown = found.filter(difference => {
    const match = known.find(entry => isInstance(difference, entry))
    if (match !== undefined) used.add(match)
    return match === undefined
  })
  expect(unknown.map(line)).toEqual([])
  expect(known.filter(entry => !used.has(entry))).toEqual([])
}

function line({ at, original, port }: Difference): string {
  return `${at} ${JSON.stringify(original)} → ${JSON.stringify(port)}`
}

function isInstance({ at, original, port }: Difference, known: Difference): boolean {
  const pattern = known.at.split('*').map(escaped)
  if (!new RegExp(`^${pattern.join('.*')}$`, 's').test(at)) return false
  return fits(original, known.original) && fits(port, known.port)
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function fits(value: unknown, expected: unknown): boolean {
  if (!(expected instanceof RegExp)) return isDeepStrictEqual(value, expected)
  return expected.test(typeof value === 'string' ? value : JSON.stringify(value))
}

function diff(at: string, original: unknown, port: unknown, found: Difference[]): void {
  if (isDeepStrictEqual(original, port)) return
  if (!isObject(original) || !isObject(port) || Array.isArray(original) !== Array.isArray(port)) {
    found.push({ at, original: original ?? absent, port: port ?? absent })
    return
  }
  for (const key of new Set([...Object.keys(original), ...Object.keys(port)])) {
    diff(`${at}.${key}`, original[key], port[key], found)
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
