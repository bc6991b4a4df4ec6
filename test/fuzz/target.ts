import { inspect } from 'node:util'
import { Random } from './random.ts'

/** A function under test with generated input. */
export interface Target {
  readonly name: string
  /** Tests one input. A failure is reported with the input and the command that reproduces it. */
  run(seed: number): Promise<void>
}

/**
 * Makes a target from a function that generates an input and one that throws if it is handled wrongly.
 */
export function target<Input>(
  name: string,
  make: (random: Random) => Input,
  check: (input: Input) => void | Promise<void>,
): Target {
  return {
    name,
    run: async seed => {
      const input = make(new Random(seed))
      try {
        await check(input)
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause)
        const again = `npm run fuzz -- --target ${name} --seed ${seed}`
        throw new Error(`${again}\n${reason}\n${show(input)}`, { cause })
      }
    },
  }
}

/** The input with bytes as text, one character each. */
function show(input: unknown): string {
  return inspect(readable(input), { depth: null, maxArrayLength: null, maxStringLength: null })
}

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (Array.isArray(value)) return value.map(readable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, readable(part)]))
}
