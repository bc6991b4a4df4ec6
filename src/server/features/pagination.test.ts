import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { allRevisions, answeringClient, stateless } from '../../../test/support/answering-client.ts'
import { anyText } from '../../../test/support/any-text.ts'
import { Server } from '../server.ts'
import { type Cursors, createCursors } from './pagination.ts'

const lists = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const

type List = (typeof lists)[number][0]

function server(pageSize?: number, keys?: readonly Uint8Array[]) {
  const made = new Server({ name: 'test', version: '1' }, { pageSize, keys })
  const add = (list: List, name: string) => {
    if (list === 'tools/list') return made.tool(name, {}, () => '')
    if (list === 'prompts/list') return made.prompt(name, {}, () => '')
    if (list === 'resources/list') return made.resource(name, `r:///${name}`, {}, () => '')
    return made.resourceTemplate(name, `t:///${name}/{id}`, {}, () => '')
  }
  return { server: made, add }
}

type Client = Awaited<ReturnType<typeof answeringClient>>

async function page(client: Client, list: List, member: string, cursor?: unknown) {
  const { result, error } = await client.request(list, cursor === undefined ? {} : { cursor })
  const items = (result?.[member] ?? []) as { readonly name: string }[]
  return { names: items.map(({ name }) => name), next: result?.nextCursor, error, result }
}

async function pages(client: Client, list: List, member: string): Promise<string[][]> {
  const all: string[][] = []
  let next: unknown
  do {
    const read = await page(client, list, member, next)
    all.push(read.names)
    next = read.next
  } while (next !== undefined)
  return all
}

describe.each(allRevisions)('in %s', revision => {
  it.each(lists)('%s comes in pages, the last of which is never empty', async (list, member) => {
    proves('U6b', 'S3', 'B16')
    const { server: made, add } = server(2)
    const client = await answeringClient(made, revision)
    const expected: [number, string[][]][] = [
      [1, [['n1']]],
      [2, [['n1', 'n2']]],
      [3, [['n1', 'n2'], ['n3']]],
      [
        4,
        [
          ['n1', 'n2'],
          ['n3', 'n4'],
        ],
      ],
    ]
    for (const [count, wanted] of expected) {
      add(list, `n${count}`)
      expect(await pages(client, list, member)).toEqual(wanted)
      expect(await pages(client, list, member)).toEqual(wanted)
    }
  })

  it.each(lists)(
    '%s goes on in the right place while entries come and go',
    async (list, member) => {
      proves('U6b')
      const { server: made, add } = server(2)
      const client = await answeringClient(made, revision)
      const entries = ['a', 'b', 'c', 'd', 'e'].map(name => add(list, name))
      const first = await page(client, list, member)
      expect(first.names).toEqual(['a', 'b'])
      entries[0]?.remove()
      entries[1]?.disable()
      entries[3]?.remove()
      add(list, 'f')
      const second = await page(client, list, member, first.next)
      expect(second.names).toEqual(['c', 'e'])
      entries[1]?.enable()
      const third = await page(client, list, member, second.next)
      expect(third).toMatchObject({ names: ['f'], next: undefined })
    },
  )

  it.each(lists)('%s takes no cursor that it did not give', async (list, member) => {
    proves('U6c')
    const { server: made, add } = server(1)
    for (const [other] of lists) for (const name of ['a', 'b', 'c']) add(other, name)
    const client = await answeringClient(made, revision)
    const { next } = await page(client, list, member)
    const own = String(next)
    const foreign: unknown[] = []
    for (const [other, name] of lists) {
      if (other !== list) foreign.push((await page(client, other, name)).next)
    }
    const first = own.startsWith('A') ? 'B' : 'A'
    for (const cursor of [...foreign, `${first}${own.slice(1)}`, `${own}A`, '', '1', 1, null, {}]) {
      expect((await page(client, list, member, cursor)).error).toMatchObject({
        code: -32602,
        data: { kind: 'invalid_cursor' },
      })
    }
    expect((await page(client, list, member, own)).names).toEqual(['b'])
  })
})

it('cursors are good in every process with the same keys, and in no other', async () => {
  proves('B15c', 'U6b')
  const key = (byte: number) => new Uint8Array(32).fill(byte)
  const [one, same, other] = [[key(1)], [key(2), key(1)], [key(3)]].map(keys => server(1, keys))
  const clients = await Promise.all(
    [one, same, other].map(async made => {
      for (const name of ['a', 'b']) made?.add('tools/list', name)
      return answeringClient(made?.server as Server, stateless)
    }),
  )
  const [first, second, third] = clients as [Client, Client, Client]
  const { next } = await page(first, 'tools/list', 'tools')
  expect((await page(second, 'tools/list', 'tools', next)).names).toEqual(['b'])
  expect((await page(third, 'tools/list', 'tools', next)).error).toMatchObject({ code: -32602 })
})

it('a page has the default number of entries unless the server has an option', async () => {
  const { server: made, add } = server()
  for (let n = 0; n <= 500; n++) add('tools/list', `t${n}`)
  const client = await answeringClient(made, stateless)
  expect((await pages(client, 'tools/list', 'tools')).map(names => names.length)).toEqual([500, 1])
})

function key(fill: number, length = 32): Uint8Array {
  return new Uint8Array(length).fill(fill)
}

const positions = fc.nat({ max: Number.MAX_SAFE_INTEGER })

describe('a cursor', () => {
  const cursors = createCursors()

  test('is read as the position that it was made for', async () => {
    return fc.assert(
      fc.asyncProperty(fc.string(), positions, async (binding, position) => {
        const cursor = await cursors.make(binding, position)
        expect(cursor).toMatch(/^[\w-]{23,43}$/)
        expect(await cursors.read(binding, cursor)).toBe(position)
        expect(await cursors.make(binding, position)).toBe(cursor)
      }),
    )
  })

  test.each([[0], [1], [Number.MAX_SAFE_INTEGER]])('holds position %i', async position => {
    expect(await cursors.read('tools/list', await cursors.make('tools/list', position))).toBe(
      position,
    )
  })

  test.each([[-1], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY], [2 ** 53]])(
    'does not hold position %d',
    async position => {
      await expect(cursors.make('tools/list', position)).rejects.toThrow(RangeError)
    },
  )

  test('is not read with any bit flipped', async () => {
    const bytes = Buffer.from(await cursors.make('tools/list', 12_345), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(await cursors.read('tools/list', changed.toString('base64url'))).toBeUndefined()
    }
  })

  test('is not read when cut or made longer', async () => {
    const cursor = await cursors.make('tools/list', 12_345)
    for (let place = 1; place < cursor.length; place++) {
      expect(await cursors.read('tools/list', cursor.slice(0, place))).toBeUndefined()
      expect(await cursors.read('tools/list', cursor.slice(place))).toBeUndefined()
    }
    for (const more of ['A', '=', 'AAAA', '\n', ' ']) {
      expect(await cursors.read('tools/list', cursor + more)).toBeUndefined()
    }
  })

  test('is not read with the position of another', async () => {
    const [a, b] = await Promise.all(
      [1, 2].map(async n => Buffer.from(await cursors.make('tools/list', n), 'base64url')),
    )
    const mixed = Buffer.concat([a?.subarray(0, 16) ?? key(0), b?.subarray(16) ?? key(0)])
    expect(await cursors.read('tools/list', mixed.toString('base64url'))).toBeUndefined()
  })

  test('is not an arbitrary text', async () => {
    return fc.assert(
      fc.asyncProperty(fc.oneof(anyText(), fc.base64String()), async text => {
        expect(await cursors.read('tools/list', text)).toBeUndefined()
      }),
    )
  })

  test.each([
    ['the empty string', ''],
    ['a number', '100'],
    ['a number in base64', 'MTAw'],
    ['as long as a message may be', 'A'.repeat(10_000_000)],
  ])('is not %s', async (_, text) => {
    expect(await cursors.read('tools/list', text)).toBeUndefined()
  })

  test.each([[undefined], [null], [7], [{}]])('is not %j', async value => {
    // The check: a caller in JavaScript may pass anything.
    expect(await cursors.read('tools/list', value as unknown as string)).toBeUndefined()
  })
})

describe('the binding of a cursor', () => {
  const cursors = createCursors()

  test.each<[string, string | readonly string[], string | readonly string[]]>([
    ['another method', 'tools/list', 'prompts/list'],
    ['another version of the list', ['tools/list', '1'], ['tools/list', '2']],
    ['no version', ['tools/list', '1'], ['tools/list']],
    ['another caller', ['tools/list', '1', 'alice'], ['tools/list', '1', 'bob']],
    ['parts that were moved', ['tools/list', '12'], ['tools/list1', '2']],
    ['parts that were joined', ['tools/list', '1'], 'tools/list,1'],
    ['a list instead of a text', 'tools/list', ['tools/list']],
    ['a text that looks like a list', ['a'], '["a"]'],
  ])('is not read for %s', async (_, binding, other) => {
    const cursor = await cursors.make(binding, 7)
    expect(await cursors.read(other, cursor)).toBeUndefined()
    expect(await cursors.read(binding, cursor)).toBe(7)
  })
})

describe('keys of cursors', () => {
  test('one process reads what another one with the same key has made', async () => {
    const [a, b] = [createCursors({ keys: [key(1)] }), createCursors({ keys: [key(1)] })]
    expect(await b.read('x', await a.make('x', 9))).toBe(9)
  })

  test('makers without keys do not read the cursors of each other', async () => {
    expect(await createCursors().read('x', await createCursors().make('x', 9))).toBeUndefined()
  })

  test('after a change of keys the old cursors are still read', async () => {
    const before = createCursors({ keys: [key(1)] })
    const during = createCursors({ keys: [key(2), key(1)] })
    const after = createCursors({ keys: [key(2)] })
    expect(await during.read('x', await before.make('x', 9))).toBe(9)
    expect(await after.read('x', await during.make('x', 9))).toBe(9)
    expect(await after.read('x', await before.make('x', 9))).toBeUndefined()
    expect(await before.read('x', await during.make('x', 9))).toBeUndefined()
  })

  test('every byte of a key counts', async () => {
    const cursor = await createCursors({ keys: [key(1, 48)] }).make('x', 9)
    for (let place = 0; place < 48; place++) {
      const other = key(1, 48)
      other[place] = 2
      expect(await createCursors({ keys: [other] }).read('x', cursor)).toBeUndefined()
    }
  })

  test('clearing the array afterwards changes nothing', async () => {
    const secret = key(1)
    const cursors: Cursors = createCursors({ keys: [secret] })
    secret.fill(0)
    expect(await createCursors({ keys: [key(1)] }).read('x', await cursors.make('x', 9))).toBe(9)
  })

  test.each([
    ['none', [], 'must not be empty'],
    ['a short one', [key(1, 31)], 'got 31'],
    ['a short one behind a good one', [key(1), key(1, 16)], 'got 16'],
  ])('%s is refused', (_, keys, words) => {
    expect(() => createCursors({ keys })).toThrow(TypeError)
    expect(() => createCursors({ keys })).toThrow(words)
  })
})
