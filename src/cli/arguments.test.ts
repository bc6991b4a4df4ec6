import { describe, expect, test } from 'vitest'
import { numberOf, parseInput, timeOf } from './arguments.ts'
import { UsageError } from './exit.ts'
import { commandNamed } from './manual.ts'

function parse(name: string, ...argv: readonly string[]) {
  const command = commandNamed(name)
  if (command === undefined) throw new Error(`no command ${name}`)
  return parseInput(command, argv)
}

describe('a command line', () => {
  test('has operands, options anywhere between them, and a program behind dashes', () => {
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

  test('keeps every value of what may be given several times', () => {
    const input = parse('list', '--env', 'A=1', '--env=B=2')
    expect(input.values('env')).toEqual(['A=1', 'B=2'])
  })

  test.each([
    ['separate', ['--args', '-']],
    ['joined', ['--args=-']],
  ])('takes a lone dash for a value, %s', (_, args) => {
    const input = parse('call', ...args, 'x')
    expect([input.value('args'), input.operands]).toEqual(['-', ['x']])
  })

  test('takes a lone dash for an operand where no option wants it', () => {
    expect(parse('call', 'x', '-').operands).toEqual(['x', '-'])
  })

  test.each([
    [['--tiemout', '1'], 'has no option --tiemout; did you mean "--timeout"?'],
    [['--frobnicate'], '"trunkline help call" shows those there are'],
    [['-z'], 'has no option -z'],
    [['--json=yes'], '--json takes no value, not "yes"'],
    [['--args'], '--args needs a value: --args JSON'],
    [['--timeout', '1', '--timeout', '2'], '--timeout is given twice'],
    [['--era', 'old'], '--era is one of auto, session, stateless, not "old"'],
  ])('is refused with what is wrong: %j', (args, words) => {
    expect(() => parse('call', ...args)).toThrow(UsageError)
    expect(() => parse('call', ...args)).toThrow(words)
  })

  test('names such as those of every object are no options', () => {
    expect(() => parse('call', '--constructor')).toThrow('has no option --constructor')
    expect(() => parse('call', '--__proto__')).toThrow('has no option --__proto__')
  })
})

describe('times and numbers', () => {
  test.each([
    ['3', 3000],
    ['0.5', 500],
    ['250ms', 250],
    ['2s', 2000],
    ['1.5m', 90_000],
  ])('%s is %d ms', (text, ms) => {
    expect(timeOf('timeout', text)).toBe(ms)
  })

  test.each(['', '0', '-1', 'soon', '5h', '1e9', '99999999m'])('"%s" is no time', text => {
    expect(() => timeOf('timeout', text)).toThrow('--timeout is a time such as 30s')
  })

  test('a number has bounds', () => {
    expect(numberOf('seconds', '0.5', { most: 10 })).toBe(0.5)
    expect(() => numberOf('seconds', '11', { most: 10 })).toThrow(
      '--seconds is a number above 0 and up to 10',
    )
    expect(() => numberOf('n', '1.5', { most: 10, isWhole: true })).toThrow('a whole number')
    expect(() => numberOf('n', '', { most: 10 })).toThrow(UsageError)
  })
})
