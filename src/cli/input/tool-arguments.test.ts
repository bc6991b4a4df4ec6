import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { exitNameOf } from '../exit.ts'
import { argumentsOf, promptArgumentsOf } from './tool-arguments.ts'

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

  test('are strings without a schema', async () => {
    expect(await argumentsOf(given(['a=1', 'b=true']))).toEqual({ a: '1', b: 'true' })
  })

  test('override the given object', async () => {
    const args = '{"count":1,"flag":true}'
    expect(await argumentsOf(given(['count=2'], args), schema)).toEqual({ count: 2, flag: true })
  })

  test('are collected into an array if the schema expects one', async () => {
    expect(await argumentsOf(given(['list=1', 'list=2'], '{"list":[9]}'), schema)).toEqual({
      list: [1, 2],
    })
  })

  test('come from stdin', async () => {
    expect(await argumentsOf(given(['-'], undefined, '{"a":1}'))).toEqual({ a: 1 })
  })

  test('can have any name', async () => {
    const found = await argumentsOf(given(['__proto__=x', 'constructor=y']), schema)
    expect(Object.entries(found)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })

  test.each([
    [['count=many'], undefined, '"count" must be of type integer (got "many")'],
    [['flag=yes'], undefined, '"flag" must be of type boolean (got "yes")'],
    [['deep=x'], undefined, 'deep:= must be followed by JSON'],
    [['a:=x'], undefined, 'a:= must be followed by JSON (got "x")'],
    [
      ['nothing'],
      undefined,
      'arguments must be name=value, --name value, name:=json or a JSON object (got "nothing")',
    ],
    [['=x'], undefined, '(got "=x")'],
    [['text=a', 'text=b'], undefined, '"text" is given twice'],
    [[], '[1]', '--args must be a JSON object'],
    [[], '{', '--args is not valid JSON:'],
    [[], '@/no/such/file', 'cannot read --args @/no/such/file'],
    [['-'], '{}', 'give one JSON object'],
  ])('are rejected with the reason: %j %s', async (operands, args, message) => {
    const failure = argumentsOf(given(operands, args), schema)
    await expect(failure).rejects.toThrow(message)
    const error = await argumentsOf(given(operands, args), schema).catch(thrown => thrown)
    expect(exitNameOf(error)).toBe('usage')
  })
})

test('arguments of a prompt are strings', async () => {
  expect(await promptArgumentsOf(given(['a=1'], '{"b":"2"}'))).toEqual({ a: '1', b: '2' })
  await expect(promptArgumentsOf(given([], '{"b":2}'))).rejects.toThrow(
    'prompt argument "b" must be a string (got 2)',
  )
})
