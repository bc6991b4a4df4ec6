import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../exit.ts'
import { argumentsOf, textArgumentsOf } from './tool-arguments.ts'

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: ['number', 'null'] },
    flag: { type: 'boolean' },
    list: { type: 'array', items: { type: 'integer' } },
    deep: { type: 'object' },
    either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
    anything: {},
  },
}

const given = (operands: readonly string[], args?: string, input = '') => ({
  operands,
  args,
  stdin: Readable.from([input]),
})

describe('arguments of a tool', () => {
  test.each([
    ['text=5', { text: '5' }],
    ['text=', { text: '' }],
    ['text=a=b', { text: 'a=b' }],
    ['count=5', { count: 5 }],
    ['count=-5', { count: -5 }],
    ['ratio=0.5', { ratio: 0.5 }],
    ['ratio=null', { ratio: null }],
    ['flag=true', { flag: true }],
    ['flag=false', { flag: false }],
    ['list=1', { list: [1] }],
    ['list=[1,2]', { list: [1, 2] }],
    ['deep={"a":[1]}', { deep: { a: [1] } }],
    ['either=5', { either: '5' }],
    ['anything=5', { anything: '5' }],
    ['anything:=5', { anything: 5 }],
    ['text:="5"', { text: '5' }],
    ['unknown=x', { unknown: 'x' }],
  ])('%s', async (operand, expected) => {
    expect(await argumentsOf(given([operand]), schema)).toEqual(expected)
  })

  test('are all texts where there is no schema', async () => {
    expect(await argumentsOf(given(['a=1', 'b=true']))).toEqual({ a: '1', b: 'true' })
  })

  test('win over the object that was given', async () => {
    const args = '{"count":1,"flag":true}'
    expect(await argumentsOf(given(['count=2'], args), schema)).toEqual({ count: 2, flag: true })
  })

  test('gather to a list where the schema wants one', async () => {
    expect(await argumentsOf(given(['list=1', 'list=2'], '{"list":[9]}'), schema)).toEqual({
      list: [1, 2],
    })
  })

  test('come from stdin', async () => {
    expect(await argumentsOf(given(['-'], undefined, '{"a":1}'))).toEqual({ a: 1 })
  })

  test('may be called anything', async () => {
    const found = await argumentsOf(given(['__proto__=x', 'constructor=y']), schema)
    expect(Object.entries(found)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })

  test.each([
    [['count=many'], undefined, '"count" is integer, not "many"'],
    [['flag=yes'], undefined, '"flag" is boolean, not "yes"'],
    [['deep=x'], undefined, 'deep:= takes JSON'],
    [['a:=x'], undefined, 'a:= takes JSON, which "x" is not'],
    [['nothing'], undefined, 'arguments are name=value or name:=json, not "nothing"'],
    [['=x'], undefined, 'not "=x"'],
    [['text=a', 'text=b'], undefined, '"text" is given twice'],
    [[], '[1]', '--args is no JSON object'],
    [[], '{', '--args is no JSON:'],
    [[], '@/no/such/file', '--args @/no/such/file cannot be read'],
    [['-'], '{}', 'not from both'],
  ])('are refused with what is wrong: %j %s', async (operands, args, words) => {
    const failure = argumentsOf(given(operands, args), schema)
    await expect(failure).rejects.toThrow(words)
    await expect(argumentsOf(given(operands, args), schema)).rejects.toThrow(UsageError)
  })
})

test('arguments of a prompt are texts', async () => {
  expect(await textArgumentsOf(given(['a=1'], '{"b":"2"}'))).toEqual({ a: '1', b: '2' })
  await expect(textArgumentsOf(given([], '{"b":2}'))).rejects.toThrow(
    '"b" of a prompt is a text, not 2',
  )
})
