import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { allRevisions, asked, stateless } from '../../../test/support/asking.ts'
import { Server } from '../server.ts'

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

type Client = Awaited<ReturnType<typeof asked>>

async function page(client: Client, list: List, member: string, cursor?: unknown) {
  const { result, error } = await client.ask(list, cursor === undefined ? {} : { cursor })
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
    const client = await asked(made, revision)
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
      const client = await asked(made, revision)
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
    const client = await asked(made, revision)
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
      return asked(made?.server as Server, stateless)
    }),
  )
  const [first, second, third] = clients as [Client, Client, Client]
  const { next } = await page(first, 'tools/list', 'tools')
  expect((await page(second, 'tools/list', 'tools', next)).names).toEqual(['b'])
  expect((await page(third, 'tools/list', 'tools', next)).error).toMatchObject({ code: -32602 })
})

it('a page has so many entries unless the server says otherwise', async () => {
  const { server: made, add } = server()
  for (let n = 0; n <= 500; n++) add('tools/list', `t${n}`)
  const client = await asked(made, stateless)
  expect((await pages(client, 'tools/list', 'tools')).map(names => names.length)).toEqual([500, 1])
})
