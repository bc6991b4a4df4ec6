import { expect, test } from 'vitest'
import { checkOptions, type OptionTable } from './options.ts'
import { longestDelayMs } from './time/clock.ts'

const table: OptionTable = {
  any: 'any',
  name: 'text',
  hosts: 'texts',
  keys: 'list',
  clock: 'object',
  strict: 'flag',
  onError: 'function',
  share: 'number',
  queue: 'count',
  maxBytes: 'most',
  waitMs: 'ms',
  maxMs: 'longestMs',
  limits: { perSecond: 'number', tools: { '*': { perSecond: 'number' } } },
  restart: { attempts: 'count' },
}

const check = (options: unknown, whose?: string) => () => checkOptions(options, table, whose)

test.each<[string, unknown, string]>([
  ['no object', 5, 'options are an object, not 5'],
  ['a list', [], 'options are an object, not an array'],
  ['nothing', null, 'options are an object, not null'],
  ['a number as a text', { name: 5 }, 'the option "name" is a text, not 5'],
  ['one text as several', { hosts: 'a' }, 'the option "hosts" is a list of texts, not "a"'],
  [
    'several that are no texts',
    { hosts: [5] },
    'the option "hosts" is a list of texts, not an array',
  ],
  ['one as a list', { keys: {} }, 'the option "keys" is a list, not an object'],
  [
    'a function as an object',
    { clock: () => 0 },
    'the option "clock" is an object, not a function',
  ],
  ['a word as a flag', { strict: 'yes' }, 'the option "strict" is true or false, not "yes"'],
  ['true as a function', { onError: true }, 'the option "onError" is a function, not true'],
  ['a text as a number', { share: '1' }, 'the option "share" is a number, not "1"'],
  ['no number', { share: Number.NaN }, 'the option "share" is a number, not NaN'],
  ['less than none', { queue: -1 }, 'the option "queue" is a number from 0 to Infinity, not -1'],
  ['at most none', { maxBytes: 0 }, 'the option "maxBytes" is a number from 1 to Infinity, not 0'],
  [
    'a time no timer takes',
    { waitMs: 2 ** 31 },
    `the option "waitMs" is a number from 0 to ${longestDelayMs}, not 2147483648`,
  ],
  [
    'no time as the longest',
    { maxMs: 0 },
    `the option "maxMs" is a number from 1 to ${longestDelayMs}, not 0`,
  ],
  [
    'a group that is none',
    { limits: false },
    'the option "limits" is an object of options, not false',
  ],
  [
    'a group that is neither described nor off',
    { restart: true },
    'the option "restart" is an object of options or false, not true',
  ],
  ['a slip', { nmae: 'x' }, 'there is no option "nmae"; did you mean "name"?'],
  [
    'a slip in a group',
    { limits: { perSecnd: 1 } },
    'there is no option "limits.perSecnd"; did you mean "limits.perSecond"?',
  ],
  [
    'a slip below a name that the caller chose',
    { limits: { tools: { search: { perSecnd: 1 } } } },
    'there is no option "limits.tools.search.perSecnd"; did you mean "limits.tools.search.perSecond"?',
  ],
  [
    'a name like nothing',
    { restart: { x: 1 } },
    'there is no option "restart.x"; there are attempts',
  ],
  [
    'a name that every object inherits',
    { toString: 1 },
    `there is no option "toString"; there are ${Object.keys(table).join(', ')}`,
  ],
])('%s is refused', (_, options, message) => {
  expect(check(options)).toThrow(new TypeError(message))
  expect(check(options, 'server "a": ')).toThrow(new TypeError(`server "a": ${message}`))
})

test.each<[string, unknown]>([
  ['nothing at all', {}],
  ['what is left out', { name: undefined, limits: undefined }],
  ['whatever fits', { any: null, name: '', hosts: [], keys: [1], strict: false, clock: {} }],
  ['limits that are none', { maxBytes: Number.POSITIVE_INFINITY, queue: 0, waitMs: 0 }],
  ['what is switched off', { restart: false }],
  ['names that the caller chooses', { limits: { tools: { toString: { perSecond: 1 }, '*': {} } } }],
])('%s is taken', (_, options) => {
  expect(check(options)).not.toThrow()
})
