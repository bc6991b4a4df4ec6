import { expect } from 'vitest'
import { fault } from './answers.js'

/** The calling side of a conversation, ours or theirs. */
export interface Caller {
  /** Rejects with the error of the library; it has code, message and data. */
  call(method: string, params?: object): Promise<unknown>
  notify(method: string, params?: object): unknown
  /** The outcome of each entry that is no notification, in order. */
  batch?(entries: readonly BatchEntry[]): Promise<readonly Outcome[]>
  /** False if each message has its own connection. */
  readonly keepsOrder?: boolean
}

export interface BatchEntry {
  readonly method: string
  readonly params?: object
  readonly isNotification?: boolean
}

export type Outcome = { readonly result: unknown } | { readonly error: unknown }

export interface Case {
  readonly name: string
  readonly isLarge?: boolean
  run(caller: Caller): Promise<void>
}

const texts = {
  ascii: 'plain',
  'two bytes': 'Grüße, señor ÿ',
  'three bytes': '日本語 ‰ \u2028\u2029',
  'four bytes': '😀👩‍👩‍👧‍👦🏳️‍🌈',
  combining: 'e\u0301 a\u0308',
  'controls and quotes': '\u0000\u0001\b\f\n\r\t"\\/\u007f',
  'a byte order mark inside': 'a\ufeffb',
  'things that look like frames': '\r\nContent-Length: 5\r\n\r\nhello\n\n{"jsonrpc":"2.0"}\n',
}

/** A text of more than a mebibyte, in characters of one to four bytes. */
const large = 'aé日😀'.repeat(110_000)

const values: readonly unknown[] = [
  0,
  -1.5e-7,
  9_007_199_254_740_991,
  '',
  false,
  true,
  null,
  [],
  {},
  [[[]], { a: { b: [{}] } }],
  { '': '', constructor: 1, toString: 2 },
]

export const cases: readonly Case[] = [
  {
    name: 'params by position',
    run: async caller => expect(await caller.call('add', [42, 23])).toBe(65),
  },
  {
    name: 'params by name',
    run: async caller => expect(await caller.call('greet', { name: 'Ada' })).toBe('Hello, Ada!'),
  },
  {
    name: 'no params and nothing in return',
    run: async caller => expect(await caller.call('nothing')).toBeNull(),
  },
  ...values.map(value => ({
    name: `the value ${JSON.stringify(value)}`,
    run: async (caller: Caller) =>
      expect(await caller.call('echo', { value })).toStrictEqual(value),
  })),
  ...Object.entries(texts).map(([name, value]) => ({
    name: `text with ${name}`,
    run: async (caller: Caller) => expect(await caller.call('echo', { value })).toBe(value),
  })),
  {
    name: 'more than a mebibyte there and back',
    isLarge: true,
    run: async caller => {
      expect(Buffer.byteLength(large)).toBeGreaterThan(1024 * 1024)
      const value = await caller.call('echo', { value: large })
      expect(value === large).toBe(true)
    },
  },
  {
    name: 'an error with code, message and data',
    run: async caller => {
      const error = await failure(caller.call('fail', { how: 'expected' }))
      expect(error).toMatchObject(fault)
    },
  },
  {
    name: 'a method that is not there',
    run: async caller =>
      expect(await failure(caller.call('absent'))).toMatchObject({ code: -32_601 }),
  },
  {
    name: 'notifications, in order, known and unknown',
    run: async caller => {
      await caller.notify('forget')
      for (const word of ['one', 'two', 'three']) await caller.notify('mark', { word })
      await caller.notify('absent', { word: 'four' })
      const words = await marks(caller, 3)
      if (caller.keepsOrder === false) expect(words.toSorted()).toEqual(['one', 'three', 'two'])
      else expect(words).toEqual(['one', 'two', 'three'])
    },
  },
  {
    name: '500 calls at once',
    run: async caller => {
      const numbers = Array.from({ length: 500 }, (_, i) => i)
      const sums = await Promise.all(numbers.map(i => caller.call('add', [i, 1000])))
      expect(sums).toEqual(numbers.map(i => i + 1000))
    },
  },
]

async function batch(caller: Caller, entries: readonly BatchEntry[]): Promise<readonly Outcome[]> {
  if (caller.batch === undefined) throw new TypeError('this caller has no batches')
  return caller.batch(entries)
}

export const batchCases: readonly Case[] = [
  {
    name: 'a batch of one call',
    run: async caller => {
      const outcomes = await batch(caller, [{ method: 'add', params: [1, 2] }])
      expect(outcomes).toEqual([{ result: 3 }])
    },
  },
  {
    name: 'a batch of calls that work and calls that fail',
    run: async caller => {
      await caller.notify('forget')
      const outcomes = await batch(caller, [
        { method: 'add', params: [42, 23] },
        { method: 'mark', params: { word: 'batched' }, isNotification: true },
        { method: 'fail', params: { how: 'expected' } },
        { method: 'greet', params: { name: 'Grace' } },
        { method: 'absent' },
        { method: 'nothing' },
      ])
      expect(outcomes).toMatchObject([
        { result: 65 },
        { error: fault },
        { result: 'Hello, Grace!' },
        { error: { code: -32_601 } },
        { result: null },
      ])
      expect(await marks(caller, 1)).toEqual(['batched'])
    },
  },
  {
    name: 'a batch of one call between notifications',
    run: async caller => {
      const outcomes = await batch(caller, [
        { method: 'forget', isNotification: true },
        { method: 'add', params: [4, 5] },
        { method: 'forget', isNotification: true },
      ])
      expect(outcomes).toEqual([{ result: 9 }])
    },
  },
  {
    name: 'a batch of 100 calls',
    run: async caller => {
      const numbers = Array.from({ length: 100 }, (_, i) => i)
      const outcomes = await batch(
        caller,
        numbers.map(i => ({ method: 'add', params: [i, i] })),
      )
      expect(outcomes).toEqual(numbers.map(i => ({ result: i + i })))
    },
  },
]

/** Returns the error of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<unknown> {
  const outcome = await call.then(
    value => ({ value }),
    (error: unknown) => ({ error }),
  )
  if (!('error' in outcome)) throw new Error(`it was answered: ${JSON.stringify(outcome.value)}`)
  return outcome.error
}

/** Returns the words that a server was notified of; polls until there are this many. */
export async function marks(caller: Caller, count: number): Promise<readonly unknown[]> {
  for (;;) {
    const words = await caller.call('marks')
    if (!Array.isArray(words)) throw new TypeError('marks are an array')
    if (words.length >= count) return words
  }
}
