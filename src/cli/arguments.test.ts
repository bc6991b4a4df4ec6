import { describe, expect, test } from 'vitest'
import { parseCommandLine, parseDuration, parseNumber } from './arguments.ts'
import { UsageError } from './exit.ts'
import { commandNamed } from './manual/manual.ts'

function parse(name: string, ...argv: readonly string[]) {
  const command = commandNamed(name)
  if (command === undefined) throw new Error(`no command ${name}`)
  return parseCommandLine(command, argv)
}

describe('a command line', () => {
  test('has operands, options anywhere between them, and a program after the dashes', () => {
    const input = parse(
      'call',
      'x',
      '--json',
      'a=1',
      '--args={}',
      '-v',
      '--',
      'node',
      '--json',
      '--',
      'y',
    )
    expect(input.operands).toEqual(['x', 'a=1'])
    expect(input.program).toEqual(['node', '--json', '--', 'y'])
    expect([input.has('json'), input.has('verbose'), input.has('quiet')]).toEqual([
      true,
      true,
      false,
    ])
    expect(input.value('args')).toBe('{}')
  })

  test('has no program without dashes', () => {
    expect(parse('list', 'x').program).toBeUndefined()
  })

  test('keeps every value of a repeatable option', () => {
    const input = parse('list', '--env', 'A=1', '--env=B=2')
    expect(input.values('env')).toEqual(['A=1', 'B=2'])
  })

  test.each([
    ['separate', ['--args', '-']],
    ['joined', ['--args=-']],
  ])('accepts a lone dash as a value, %s', (_, args) => {
    const input = parse('call', ...args, 'x')
    expect([input.value('args'), input.operands]).toEqual(['-', ['x']])
  })

  test('treats a lone dash as an operand if no option takes it', () => {
    expect(parse('call', 'x', '-').operands).toEqual(['x', '-'])
  })

  test.each([
    [
      ['--tiemout', '1'],
      'unknown option --tiemout for "trunkline call"; did you mean "--timeout"?',
    ],
    [['--frobnicate'], 'arguments follow the name: TARGET NAME --a 1, or a=1'],
    [['-z'], 'unknown option -z'],
    [['--json=yes'], '--json takes no value (got "yes")'],
    [['--args'], '--args requires a value: --args JSON'],
    [['--timeout', '1', '--timeout', '2'], '--timeout is given twice'],
    [['--era', 'old'], '--era must be one of auto, session, stateless (got "old")'],
  ])('is rejected with the reason: %j', (args, message) => {
    expect(() => parse('call', ...args)).toThrow(UsageError)
    expect(() => parse('call', ...args)).toThrow(message)
  })

  test('names of Object.prototype members are not options', () => {
    expect(() => parse('call', '--constructor')).toThrow('unknown option --constructor')
    expect(() => parse('call', '--__proto__')).toThrow('unknown option --__proto__')
  })
})

describe('durations and numbers', () => {
  test.each([
    ['3', 3000],
    ['0.5', 500],
    ['250ms', 250],
    ['2s', 2000],
    ['1.5m', 90_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration('timeout', text)).toBe(ms)
  })

  test.each(['', '0', '-1', 'soon', '5h', '1e9', '99999999m'])('"%s" is not a duration', text => {
    expect(() => parseDuration('timeout', text)).toThrow('--timeout must be a duration such as 30s')
  })

  test('a number has bounds', () => {
    expect(parseNumber('seconds', '0.5', { max: 10 })).toBe(0.5)
    expect(() => parseNumber('seconds', '11', { max: 10 })).toThrow(
      '--seconds must be a number > 0 and ≤ 10',
    )
    expect(() => parseNumber('n', '1.5', { max: 10, integer: true })).toThrow('an integer')
    expect(() => parseNumber('n', '', { max: 10 })).toThrow(UsageError)
  })
})
