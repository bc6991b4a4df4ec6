import type { Random } from './random.ts'

const strings = [
  '""',
  '"a"',
  '"\\u00e9"',
  '"é😀"',
  '"\\ud800"',
  '"__proto__"',
  '"\\""',
  '"2.0"',
] as const
const scalars = [
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '1e3',
  '-0',
  '1e999',
  '9007199254740993',
] as const

/** Generates the text of a JSON value, nested at most `depth` deep. */
export function json(random: Random, depth: number): string {
  const kind = random.int(depth > 0 ? 4 : 2)
  if (kind === 0) return random.pick(scalars)
  if (kind === 1) return random.pick(strings)
  const gap = random.pick(['', ' ', '\n', '\t\r\n'])
  const length = random.int(4)
  const parts = Array.from({ length }, () =>
    kind === 2 ? json(random, depth - 1) : `${random.pick(strings)}:${json(random, depth - 1)}`,
  )
  const inside = gap + parts.join(`${gap},`) + gap
  return kind === 2 ? `[${inside}]` : `{${inside}}`
}

/** Generates the text of a message or batch: mostly valid, sometimes with a defect. */
export function message(random: Random): string {
  if (random.once(8)) return `[${Array.from({ length: random.int(6) }, () => envelope(random))}]`
  return envelope(random)
}

const ids = [
  '0',
  '1',
  '-7',
  '""',
  '"a"',
  'null',
  '1.5',
  '9007199254740993',
  '"é"',
  '{}',
  `"${'i'.repeat(20)}"`,
] as const
const methods = ['"ping"', '"echo"', '"fail"', '"rpc.x"', '"p\\u0069ng"', '""', '7', '"é"'] as const

function envelope(random: Random): string {
  const members = random.once(20) ? [] : ['"jsonrpc":"2.0"']
  if (!random.once(4)) members.push(`"id":${random.pick(ids)}`)
  const isCall = !random.once(3)
  if (isCall) members.push(`"method":${random.pick(methods)}`)
  if (isCall && random.once(2)) members.push(`"params":${json(random, 4)}`)
  if (!isCall && random.once(2)) members.push(`"result":${json(random, 4)}`)
  else if (!isCall) members.push(`"error":{"code":-1,"message":"m","data":${json(random, 3)}}`)
  if (random.once(10)) members.push(`"other":${json(random, 2)}`)
  if (random.once(20)) members.push(random.pick(['"id":2', '"method":"b"', '"result":1']))
  if (random.once(3)) members.reverse()
  const gap = random.once(4) ? ' ' : ''
  return `{${gap}${members.join(`,${gap}`)}${gap}}`
}
