import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Tool } from '../../mcp/types/tools.ts'
import { canonicalJson } from '../../util/crypto/canonical-json.ts'
import { limits } from '../../util/limits/limits.ts'
import { countInvisible, describeChange } from './diff.ts'
import { Pins } from './pins.ts'
import type { PinFile } from './records.ts'
import { definitionOf, digestOf } from './records.ts'

const send: Tool = {
  name: 'send',
  title: 'Send mail',
  description: 'Sends a mail.',
  inputSchema: {
    type: 'object',
    properties: { to: { type: 'string' }, text: { type: 'string' } },
    required: ['to'],
  },
  outputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  annotations: { readOnlyHint: false, openWorldHint: true },
  icons: [{ src: 'https://example.com/a.png' }],
}

/** The digest of a tool of a server. */
function toolDigest(server: string, tool: Tool): Promise<string> {
  return digestOf(server, definitionOf(tool))
}

const read: Tool = { name: 'read', inputSchema: { type: 'object' } }

async function pinned(...tools: readonly Tool[]): Promise<Pins> {
  const pins = new Pins()
  await pins.check('mail', tools)
  return pins
}

/** A tool with another order of members everywhere. */
function reordered<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reordered) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([name, member]) => [name, reordered(member)])) as T
}

describe('tools that are seen', () => {
  test('for the first time are pinned, and the same when they are the same', async () => {
    const pins = new Pins()
    expect(await pins.check('mail', [send, read])).toEqual({ added: ['send', 'read'], changes: [] })
    expect(await pins.check('mail', [send, read])).toEqual({ added: [], changes: [] })
    expect(pins.changeOf('mail', 'send')).toBeUndefined()
  })

  test('in another order, with members in another order, are the same', async () => {
    const pins = await pinned(send, read)
    expect(await pins.check('mail', [read, reordered(send)])).toEqual({ added: [], changes: [] })
  })

  test('at another server are others', async () => {
    const pins = await pinned(send)
    const report = await pins.check('other', [{ ...send, description: 'Sends.' }])
    expect(report).toEqual({ added: ['send'], changes: [] })
  })

  test('may have any name', async () => {
    const odd = ['__proto__', 'constructor'].map(name => ({ ...read, name }))
    const pins = await pinned(...odd)
    expect((await pins.check('mail', odd)).changes).toEqual([])
    const changed = odd.map(tool => ({ ...tool, title: 'x' }))
    expect((await pins.check('mail', changed)).changes).toHaveLength(2)
  })

  test('stay pinned when they are gone, and cannot return with another definition', async () => {
    const pins = await pinned(send, read)
    await pins.check('mail', [read])
    const { changes } = await pins.check('mail', [{ ...send, description: 'Steals a mail.' }, read])
    expect(changes).toMatchObject([{ tool: 'send', changed: ['description'] }])
  })

  test('that change in what the protocol may add to them are the same', async () => {
    const pins = await pinned(send)
    const more = { ...send, _meta: { seen: 5 }, execution: { taskSupport: 'optional' as const } }
    expect((await pins.check('mail', [more])).changes).toEqual([])
  })
})

describe('a changed tool', () => {
  test.each<[member: string, change: Partial<Tool>, diff: string]>([
    ['title', { title: 'Send' }, 'title: "Send mail" → "Send"'],
    [
      'description',
      { description: 'Sends a mail, and a copy to bob@example.com.' },
      'description: "Sends a mail." → "Sends a mail, and a copy to bob@example.com."',
    ],
    ['description', { description: undefined }, 'description removed: "Sends a mail."'],
    [
      'description',
      { description: 'Sends a\u200b mail\u{e0041}.' },
      'description: "Sends a mail." → "Sends a<U+200B> mail<U+E0041>." (invisible characters added: 2)',
    ],
    [
      'inputSchema',
      { inputSchema: { ...send.inputSchema, properties: { to: { type: 'string' } } } },
      'inputSchema.properties.text removed: {"type":"string"}',
    ],
    [
      'inputSchema',
      { inputSchema: { ...send.inputSchema, required: ['to', 'text'] } },
      'inputSchema.required[1] added: "text"',
    ],
    [
      'outputSchema',
      { outputSchema: { type: 'object' } },
      'outputSchema.properties removed: {"id":{"type":"string"}}',
    ],
    [
      'annotations',
      { annotations: { readOnlyHint: true, openWorldHint: true } },
      'annotations.readOnlyHint: false → true',
    ],
    [
      'icons',
      { icons: [{ src: 'https://example.org/a.png' }] },
      'icons[0].src: "https://example.com/a.png" → "https://example.org/a.png"',
    ],
  ])('in its %s is reported with the difference', async (member, change, diff) => {
    const pins = await pinned(send, read)
    const { changes } = await pins.check('mail', [{ ...send, ...change }, read])
    expect(changes).toMatchObject([{ server: 'mail', tool: 'send', changed: [member], diff }])
    expect(pins.changeOf('mail', 'send')).toEqual(changes[0])
    expect(pins.changes()).toEqual(changes)
    expect(pins.changeOf('mail', 'read')).toBeUndefined()
  })

  const worse = { ...send, description: 'Sends a mail.\u2062', title: 'X' }

  test('is reported with both digests and the number of invisible characters', async () => {
    const pins = await pinned(send)
    const { changes } = await pins.check('mail', [worse])
    expect(changes).toMatchObject([
      {
        changed: ['title', 'description'],
        invisible: 1,
        pinned: await toolDigest('mail', send),
        seen: await toolDigest('mail', worse),
      },
    ])
  })

  test('at one instance stays changed although others list the pinned definition', async () => {
    const pins = await pinned(send)
    await pins.check('mail', [worse])
    expect((await pins.check('mail', [send])).changes).toEqual([])
    expect(pins.changeOf('mail', 'send')).toBeDefined()
  })

  test('is blocked before the check, and passes again when it matches its pin', async () => {
    const pins = new Pins(1)
    expect(pins.whyBlocked('mail', send)).toBeUndefined()
    await pins.check('mail', [send])
    expect(pins.whyBlocked('mail', reordered(send))).toBeUndefined()
    expect(pins.whyBlocked('mail', worse)).toBe('its definition has changed')
    expect(pins.whyBlocked('mail', read)).toBe('the limit of pinned tools is reached')
    const { changes } = await pins.check('mail', [{ ...send, title: 'X' }])
    expect(pins.whyBlocked('mail', send)).toBe(
      'its definition has changed: title: "Send mail" → "X"',
    )
    pins.approve('mail', 'send', changes[0]?.seen ?? '')
    expect(pins.whyBlocked('mail', { ...send, title: 'X' })).toBeUndefined()
    expect(pins.whyBlocked('mail', send)).toBe('its definition has changed')
  })

  test('is not approved by being seen again', async () => {
    const pins = await pinned(send)
    for (let time = 0; time < 3; time++) {
      expect((await pins.check('mail', [worse])).changes).toHaveLength(1)
    }
  })

  test('is accepted once approved, and the old definition is a change then', async () => {
    const pins = await pinned(send)
    const { changes } = await pins.check('mail', [worse])
    pins.approve('mail', 'send', changes[0]?.seen ?? '')
    expect(pins.changeOf('mail', 'send')).toBeUndefined()
    expect((await pins.check('mail', [worse])).changes).toEqual([])
    expect((await pins.check('mail', [send])).changes).toHaveLength(1)
  })

  test('is not approved if it has changed again since the review', async () => {
    const pins = await pinned(send)
    const { changes } = await pins.check('mail', [worse])
    await pins.check('mail', [{ ...worse, title: 'Y' }])
    const approve = () => pins.approve('mail', 'send', changes[0]?.seen ?? '')
    expect(approve).toThrow('tool "send" of server "mail" has changed again; review it again')
    expect(() => pins.approve('mail', 'read', '')).toThrow('has no pending change')
  })

  test('can be dismissed, and the server forgotten', async () => {
    const pins = await pinned(send)
    await pins.check('mail', [worse])
    pins.dismiss('mail', 'send')
    expect(pins.changes()).toEqual([])
    expect((await pins.check('mail', [worse])).changes).toHaveLength(1)
    pins.forget('mail')
    expect(await pins.check('mail', [worse])).toEqual({ added: ['send'], changes: [] })
  })

  test('is pinned again after its pin was forgotten', async () => {
    const pins = new Pins()
    const other = { ...send, name: 'other' }
    await pins.check('mail', [send, other])
    await pins.check('mail', [worse])
    pins.forget('mail', 'send')
    pins.forget('nobody', 'send')
    expect(pins.changes()).toEqual([])
    expect(await pins.check('mail', [worse, other])).toEqual({ added: ['send'], changes: [] })
  })

  test('is detected when two instances are checked concurrently for the first time', async () => {
    const pins = new Pins()
    const reports = await Promise.all([pins.check('mail', [send]), pins.check('mail', [worse])])
    expect(reports.flatMap(report => report.added)).toEqual(['send'])
    expect(reports.flatMap(report => report.changes)).toHaveLength(1)
  })
})

describe('digests', () => {
  // A recorded digest must stay valid after an update.
  test('are stable across processes and releases', async () => {
    expect(await toolDigest('mail', send)).toBe(
      '936f86b07e423eeacdf54282c4a21f72390fd0bd57e4cc2aea506457766c7316',
    )
  })

  test('do not let a name run into what follows it', async () => {
    const one = await toolDigest('mail"\n{', read)
    expect(await toolDigest('mail', read)).not.toBe(one)
  })
})

describe('pins as a file', () => {
  test('are what they were after being written and read', async () => {
    const pins = await pinned(send, read)
    await pins.check('other', [read])
    const text = JSON.stringify(pins.export())
    const again = new Pins()
    await again.import(JSON.parse(text))
    expect(JSON.stringify(again.export())).toBe(text)
    expect(await again.check('mail', [read, send])).toEqual({ added: [], changes: [] })
    expect((await again.check('mail', [{ ...send, title: 'x' }])).changes).toMatchObject([
      { diff: 'title: "Send mail" → "x"' },
    ])
  })

  test('do not depend on the order in which tools were seen', async () => {
    expect((await pinned(send, read)).export()).toEqual((await pinned(read, send)).export())
  })

  const other = { ...send, title: 'x' }

  test('keep pending changes apart and import them only on request', async () => {
    const pins = await pinned(send, read)
    await pins.check('mail', [other])
    const file = JSON.parse(JSON.stringify(pins.export()))
    expect(file.pins).toEqual((await pinned(send, read)).export().pins)
    expect(file.changes).toMatchObject([{ server: 'mail', tool: 'send' }])
    const again = new Pins()
    await again.import(file)
    expect(again.changes()).toEqual([])
    await again.import(file, { changes: true })
    expect(again.changes()).toEqual(pins.changes())
    expect(again.differences('mail', 'send')).toEqual(['title: "Send mail" → "x"'])
    expect(again.differences('mail', 'read')).toEqual([])
  })

  test('approve a pending change that they pin', async () => {
    const pins = await pinned(send, read)
    await pins.check('mail', [other])
    const approved = await pinned(other, read)
    expect(await pins.import(approved.export())).toMatchObject([{ tool: 'send' }])
    expect([pins.changes(), await pins.import(approved.export())]).toEqual([[], []])
    expect(pins.whyBlocked('mail', other)).toBeUndefined()
  })

  test('do not approve a tool that has changed again, and report how it differs from the file', async () => {
    const pins = await pinned(send)
    await pins.check('mail', [{ ...send, title: 'y' }])
    await pins.import((await pinned(other)).export())
    expect(pins.changes()).toMatchObject([{ diff: 'title: "x" → "y"' }])
  })

  test.each<[string, (file: PinFile) => unknown, string]>([
    ['another version', file => ({ ...file, version: 2 }), 'not a pin file'],
    ['no object', () => [], 'not a pin file'],
    [
      'a pin without a digest',
      () => ({ version: 1, pins: [{ server: 'x' }] }),
      'pins[0] must have',
    ],
    ['half of a change', file => ({ ...file, changes: [{ server: 'x' }] }), 'changes[0] must have'],
    [
      'an edited definition',
      file => ({ ...file, pins: file.pins.map(pin => ({ ...pin, definition: '{}' })) }),
      'the pin of tool "read" of server "mail" was edited',
    ],
  ])('are rejected with %s, and nothing is imported', async (_, edit, message) => {
    const pins = new Pins()
    await expect(pins.import(edit((await pinned(send, read)).export()))).rejects.toThrow(message)
    expect(pins.export().pins).toEqual([])
  })
})

test('tools beyond the pin limit wait for approval, and memory stays bounded', async () => {
  const pins = new Pins(2)
  const tools = ['a', 'b', 'c', 'd', 'e'].map(name => ({ ...read, name }))
  const { added, changes } = await pins.check('mail', tools)
  expect(added).toEqual(['a', 'b'])
  expect(changes.map(({ tool, diff }) => `${tool}: ${diff}`)).toEqual([
    'c: new, but the limit of pinned tools is reached',
    'd: new, but the limit of pinned tools is reached',
    'e: new, but the limit of pinned tools is reached',
  ])
  expect(pins.changes()).toHaveLength(2)
  // A change beyond the limit of remembered changes is still blocked.
  expect(tools.map(tool => pins.whyBlocked('mail', tool) === undefined)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  pins.approve('mail', 'c', changes[0]?.seen ?? '')
  expect(pins.export().pins).toHaveLength(3)
})

test('the limit is the number of tools of a server that can be pinned', async () => {
  const max = limits.pinnedTools.default
  const tools = Array.from({ length: max + 1 }, (_, at) => ({ ...read, name: `${at}` }))
  const { added, changes } = await new Pins().check('mail', tools)
  expect([added.length, changes.length]).toEqual([max, 1])
})

describe('the description of a change', () => {
  test('shows long texts from their first difference, and at most three paths', () => {
    const long = 'x'.repeat(200)
    expect(describeChange({ a: `${long}yes` }, { a: `${long}no` })).toBe(
      'a: "…xxxxxxxxxxyes" → "…xxxxxxxxxxno"',
    )
    expect(describeChange({ a: long }, {})).toBe(`a removed: "${'x'.repeat(60)}…"`)
    const many = { a: 1, b: 1, c: 1, d: 1, e: 1 }
    expect(describeChange(many, {})).toBe('a removed: 1; b removed: 1; c removed: 1; and 2 more')
  })

  test('shows invisible characters as code points, in names too', () => {
    expect(describeChange({}, { 'a\u202eb': '\u001b[31m' })).toBe(
      'a<U+202E>b added: "<U+001B>[31m"',
    )
  })

  test('is empty exactly if nothing changed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(describeChange({ v: one }, { v: reordered(one) })).toBe('')
        const isSame = canonicalJson(one) === canonicalJson(other)
        expect(describeChange({ v: one }, { v: other }) === '').toBe(isSame)
      }),
    )
  })

  test('line breaks and tabs count as visible, other control characters do not', () => {
    expect(countInvisible('a\tb\r\nc')).toBe(0)
    expect(countInvisible('a\u200bb\u202e\u{e0041}\u{e0042}\u00ad')).toBe(5)
  })
})
