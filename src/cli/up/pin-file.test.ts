import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { patience } from '../../../test/support/patience.ts'
import { Pins } from '../../router/pins/pins.ts'
import type { PinRecord } from '../../router/pins/records.ts'
import { UsageError } from '../exit.ts'
import { KeptPins } from './pin-file.ts'
import { pinText } from './pin-store.ts'

const tool = { name: 'add', description: 'Adds', inputSchema: { type: 'object' } } as const
const changed = { ...tool, description: 'Adds, and sends it elsewhere' }

function path(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-pins-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'pins.json')
}

/** A file that is followed, and what was told of it. */
async function follow(file: string) {
  const pinned = new KeptPins(file, 5)
  await pinned.load()
  const approved: PinRecord[] = []
  const forgotten: PinRecord[] = []
  const problems: string[] = []
  await pinned.follow({
    adopt: (found, removed) => pinned.pins.import(found, { removed }),
    onApproved: records => approved.push(...records),
    onRemoved: records => forgotten.push(...records),
    onError: error => problems.push(String(error)),
  })
  onTestFinished(() => pinned.close())
  return { pinned, approved, forgotten, problems }
}

/** The same, with one tool that is pinned. */
async function followed(file: string) {
  const all = await follow(file)
  await all.pinned.pins.check('calc', [tool])
  all.pinned.save()
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"add"'), patience)
  return all
}

/** Puts a file into its place at once, as somebody else does who approves. */
function put(file: string, text: string): void {
  writeFileSync(`${file}.other`, text)
  renameSync(`${file}.other`, file)
}

/** What is in a file with all that waits in it approved. */
async function approvedText(file: string): Promise<string> {
  const pins = new Pins()
  await pins.import(JSON.parse(readFileSync(file, 'utf8')), { changes: true })
  for (const { server, tool: name, seen } of pins.changes()) pins.approve(server, name, seen)
  return pinText(pins)
}

describe('a file of pins', () => {
  it('remembers over restarts how tools were defined, and what was seen otherwise', async () => {
    const file = path()
    const first = new KeptPins(file)
    await first.load()
    await first.pins.check('calc', [tool])
    first.save()
    first.save()
    await first.close()
    const second = new KeptPins(file)
    await second.load()
    expect((await second.pins.check('calc', [changed])).changes).toHaveLength(1)
    second.save()
    await second.close()
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      pins: [{ tool: 'add' }],
      changes: [{ tool: 'add' }],
    })
  })

  it.each(['{', '[]', '{"version":1,"pins":[{"server":"a"}]}'])('refuses %s', async text => {
    const file = path()
    writeFileSync(file, text)
    await expect(new KeptPins(file).load()).rejects.toThrow(UsageError)
  })

  it('takes over what somebody approves in it', async () => {
    const file = path()
    const { pinned, approved, problems } = await followed(file)
    await pinned.pins.check('calc', [changed])
    pinned.save()
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"changes"'), patience)
    put(file, await approvedText(file))
    await vi.waitFor(
      () => expect(approved).toMatchObject([{ server: 'calc', tool: 'add' }]),
      patience,
    )
    expect([pinned.pins.changes(), problems]).toEqual([[], []])
  })

  it('loses no approval to what is saved at the same time', async () => {
    const file = path()
    const { pinned, approved } = await followed(file)
    await pinned.pins.check('calc', [changed])
    pinned.save()
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"changes"'), patience)
    put(file, await approvedText(file))
    await pinned.pins.check('calc', [changed, { ...tool, name: 'more' }])
    pinned.save()
    await pinned.close()
    expect(approved).toMatchObject([{ tool: 'add' }])
    const { pins, changes } = JSON.parse(readFileSync(file, 'utf8'))
    expect(pins).toMatchObject([
      { tool: 'add', definition: expect.stringContaining('elsewhere') },
      { tool: 'more' },
    ])
    expect(changes).toBeUndefined()
  })

  it('from which somebody takes a pin makes it forgotten, and none that was not in it', async () => {
    const file = path()
    const { pinned, approved, forgotten, problems } = await followed(file)
    await pinned.pins.check('calc', [changed])
    // Not in the file yet, so that nobody can have taken it out.
    await pinned.pins.check('calc', [{ ...tool, name: 'more' }])
    put(file, pinText(new Pins()))
    await vi.waitFor(
      () => expect(forgotten).toMatchObject([{ server: 'calc', tool: 'add' }]),
      patience,
    )
    expect([approved, problems, pinned.pins.changes()]).toEqual([[], [], []])
    await vi.waitFor(() => {
      expect(JSON.parse(readFileSync(file, 'utf8')).pins).toMatchObject([{ tool: 'more' }])
    }, patience)
    expect(await pinned.pins.check('calc', [changed])).toEqual({ added: ['add'], changes: [] })
  })

  it('in which somebody changes a pin makes it hold', async () => {
    const file = path()
    const { pinned, approved, forgotten } = await followed(file)
    const other = new Pins()
    await other.check('calc', [changed])
    put(file, pinText(other))
    await vi.waitFor(() => expect(approved).toMatchObject([{ tool: 'add' }]), patience)
    expect(forgotten).toEqual([])
    expect((await pinned.pins.check('calc', [tool])).changes).toHaveLength(1)
  })

  it.each([
    '{ "version": 1, "pins": [{ "server": "calc" }] }',
    '{ "version": 2, "pins": [] }',
    '{ "version": 1, "pins": {} }',
    '[]',
    '',
  ])('that has become %j forgets nothing', async text => {
    const file = path()
    const { pinned, forgotten, problems } = await followed(file)
    put(file, text)
    await vi.waitFor(() => expect(problems).toHaveLength(1), patience)
    expect([forgotten, pinned.pins.export().pins.length]).toEqual([[], 1])
  })

  it('that is broken changes nothing, is told once and is not written over until it is whole', async () => {
    const file = path()
    const { pinned, problems } = await followed(file)
    put(file, '{ "version": 1')
    await vi.waitFor(() => expect(problems).toHaveLength(1), patience)
    expect(problems[0]).toContain(`the pins in ${file} cannot be used`)
    await pinned.pins.check('calc', [{ ...tool, name: 'more' }])
    pinned.save()
    await pinned.pins.check('calc', [changed])
    pinned.save()
    const whole = new Pins()
    await whole.check('calc', [tool])
    put(file, pinText(whole))
    await vi.waitFor(() => {
      const { pins, changes } = JSON.parse(readFileSync(file, 'utf8'))
      expect([pins.length, changes?.length]).toEqual([2, 1])
    }, patience)
    expect(problems).toHaveLength(1)
  })

  it('that goes is told, and written again with the next that is to be kept', async () => {
    const file = path()
    const before = new Pins()
    await before.check('calc', [tool])
    writeFileSync(file, pinText(before))
    const { pinned, problems } = await follow(file)
    rmSync(file)
    await vi.waitFor(() => expect(problems[0]).toContain('there is no such file'), patience)
    pinned.save()
    await pinned.close()
    expect(readFileSync(file, 'utf8')).toContain('"add"')
  })
})
