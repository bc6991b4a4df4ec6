import { expect, test } from 'vitest'
import { checkOptions, type OptionTable } from './options.ts'
import { longestDelayMs } from './time/clock.ts'

const table: OptionTable = {
  any: 'any',
  name: 'string',
  hosts: 'strings',
  keys: 'array',
  clock: 'object',
  strict: 'boolean',
  onError: 'function',
  share: 'number',
  queue: 'count',
  maxBytes: 'max',
  waitMs: 'ms',
  maxMs: 'maxMs',
  limits: { perSecond: 'number', tools: { '*': { perSecond: 'number' } } },
  restart: { attempts: 'count' },
}

const check = (options: unknown, prefix?: string) => () => checkOptions(options, table, prefix)

test.each<[string, unknown, string]>([
  ['a number', 5, 'options must be an object (got 5)'],
  ['an array', [], 'options must be an object (got an array)'],
  ['null', null, 'options must be an object (got null)'],
  ['a number as a string', { name: 5 }, 'option "name" must be a string (got 5)'],
  ['one string as several', { hosts: 'a' }, 'option "hosts" must be an array of strings (got "a")'],
  [
    'an array of numbers',
    { hosts: [5] },
    'option "hosts" must be an array of strings (got an array)',
  ],
  ['an object as an array', { keys: {} }, 'option "keys" must be an array (got an object)'],
  [
    'a function as an object',
    { clock: () => 0 },
    'option "clock" must be an object (got a function)',
  ],
  ['a string as a boolean', { strict: 'yes' }, 'option "strict" must be true or false (got "yes")'],
  ['true as a function', { onError: true }, 'option "onError" must be a function (got true)'],
  ['a string as a number', { share: '1' }, 'option "share" must be a number (got "1")'],
  ['NaN', { share: Number.NaN }, 'option "share" must be a number (got NaN)'],
  ['a negative count', { queue: -1 }, 'option "queue" must be a number ≥ 0 (got -1)'],
  ['a limit of 0', { maxBytes: 0 }, 'option "maxBytes" must be a number ≥ 1 (got 0)'],
  [
    'a delay that no timer accepts',
    { waitMs: 2 ** 31 },
    `option "waitMs" must be a number from 0 to ${longestDelayMs} (got 2147483648)`,
  ],
  [
    'a longest delay of 0',
    { maxMs: 0 },
    `option "maxMs" must be a number from 1 to ${longestDelayMs} (got 0)`,
  ],
  [
    'a group that is not an object',
    { limits: false },
    'option "limits" must be an object of options (got false)',
  ],
  [
    'a group that is neither an object nor off',
    { restart: true },
    'option "restart" must be an object of options or false (got true)',
  ],
  ['a misspelled name', { nmae: 'x' }, 'unknown option "nmae"; did you mean "name"?'],
  [
    'a misspelled name in a group',
    { limits: { perSecnd: 1 } },
    'unknown option "limits.perSecnd"; did you mean "limits.perSecond"?',
  ],
  [
    'a misspelled name below a name that the caller chose',
    { limits: { tools: { search: { perSecnd: 1 } } } },
    'unknown option "limits.tools.search.perSecnd"; did you mean "limits.tools.search.perSecond"?',
  ],
  [
    'a name close to none',
    { restart: { x: 1 } },
    'unknown option "restart.x"; known options: attempts',
  ],
  [
    'a name that every object inherits',
    { toString: 1 },
    `unknown option "toString"; known options: ${Object.keys(table).join(', ')}`,
  ],
])('%s is rejected', (_, options, message) => {
  expect(check(options)).toThrow(new TypeError(message))
  expect(check(options, 'server "a": ')).toThrow(new TypeError(`server "a": ${message}`))
})

test.each<[string, unknown]>([
  ['no options', {}],
  ['options left undefined', { name: undefined, limits: undefined }],
  ['values that fit', { any: null, name: '', hosts: [], keys: [1], strict: false, clock: {} }],
  ['limits without bound', { maxBytes: Number.POSITIVE_INFINITY, queue: 0, waitMs: 0 }],
  ['a group that is switched off', { restart: false }],
  ['names that the caller chooses', { limits: { tools: { toString: { perSecond: 1 }, '*': {} } } }],
])('%s is accepted', (_, options) => {
  expect(check(options)).not.toThrow()
})
