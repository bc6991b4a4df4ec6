import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { pollOptions } from '../../../test/support/poll-options.ts'
import { Pins } from '../../router/pins/pins.ts'
import type { PinRecord } from '../../router/pins/records.ts'
import { UsageError } from '../exit.ts'
import { PersistentPins } from './pin-file.ts'
import { pinText } from './pin-store.ts'

const tool = { name: 'add', description: 'Adds', inputSchema: { type: 'object' } } as const
const changed = { ...tool, description: 'Adds, and sends it elsewhere' }

function path(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-pins-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'pins.json')
}

/** A watched pin file, and what it reported. */
async function watchFile(file: string) {
  const pinned = new PersistentPins(file, 5, 5)
  await pinned.load()
  const approved: PinRecord[] = []
  const removedPins: PinRecord[] = []
  const problems: string[] = []
  await pinned.startWatching({
    apply: (found, removed) => pinned.pins.import(found, { removed }),
    onApproved: records => approved.push(...records),
    onRemoved: records => removedPins.push(...records),
    onError: error => problems.push(String(error)),
    onUnsaved: error => problems.push(`unsaved: ${error}`),
    onSaved: () => problems.push('saved'),
  })
  onTestFinished(() => pinned.close())
  return { pinned, approved, removedPins, problems }
}

/** A watched pin file with one pinned tool. */
async function watchedPin(file: string) {
  const all = await watchFile(file)
  await all.pinned.pins.check('calc', [tool])
  all.pinned.save()
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"add"'), pollOptions)
  return all
}

/** Replaces the file atomically, as another process does that approves. */
function put(file: string, text: string): void {
  writeFileSync(`${file}.other`, text)
  renameSync(`${file}.other`, file)
}

/** Returns the text of a pin file with all pending changes approved. */
async function approvedText(file: string): Promise<string> {
  const pins = new Pins()
  await pins.import(JSON.parse(readFileSync(file, 'utf8')), { changes: true })
  for (const { server, tool: name, seen } of pins.changes()) pins.approve(server, name, seen)
  return pinText(pins)
}

describe('a pin file', () => {
  it('keeps pins and pending changes across restarts', async () => {
    const file = path()
    const first = new PersistentPins(file)
    await first.load()
    await first.pins.check('calc', [tool])
    first.save()
    first.save()
    await first.close()
    const second = new PersistentPins(file)
    await second.load()
    expect((await second.pins.check('calc', [changed])).changes).toHaveLength(1)
    second.save()
    await second.close()
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      pins: [{ tool: 'add' }],
      changes: [{ tool: 'add' }],
    })
  })

  it.each(['{', '[]', '{"version":1,"pins":[{"server":"a"}]}'])('rejects %s', async text => {
    const file = path()
    writeFileSync(file, text)
    await expect(new PersistentPins(file).load()).rejects.toThrow(UsageError)
  })

  it('applies approvals of another process', async () => {
    const file = path()
    const { pinned, approved, problems } = await watchedPin(file)
    await pinned.pins.check('calc', [changed])
    pinned.save()
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"changes"'), pollOptions)
    put(file, await approvedText(file))
    await vi.waitFor(
      () => expect(approved).toMatchObject([{ server: 'calc', tool: 'add' }]),
      pollOptions,
    )
    expect([pinned.pins.changes(), problems]).toEqual([[], []])
  })

  it('loses no approval to a concurrent save', async () => {
    const file = path()
    const { pinned, approved } = await watchedPin(file)
    await pinned.pins.check('calc', [changed])
    pinned.save()
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"changes"'), pollOptions)
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

  it('drops a pin that is removed from it, and no pin that was never in it', async () => {
    const file = path()
    const { pinned, approved, removedPins, problems } = await watchedPin(file)
    await pinned.pins.check('calc', [changed])
    // Not in the file yet, so it cannot have been removed from it.
    await pinned.pins.check('calc', [{ ...tool, name: 'more' }])
    put(file, pinText(new Pins()))
    await vi.waitFor(
      () => expect(removedPins).toMatchObject([{ server: 'calc', tool: 'add' }]),
      pollOptions,
    )
    expect([approved, problems, pinned.pins.changes()]).toEqual([[], [], []])
    await vi.waitFor(() => {
      expect(JSON.parse(readFileSync(file, 'utf8')).pins).toMatchObject([{ tool: 'more' }])
    }, pollOptions)
    expect(await pinned.pins.check('calc', [changed])).toEqual({ added: ['add'], changes: [] })
  })

  it('applies a pin that is changed in it', async () => {
    const file = path()
    const { pinned, approved, removedPins } = await watchedPin(file)
    const other = new Pins()
    await other.check('calc', [changed])
    put(file, pinText(other))
    await vi.waitFor(() => expect(approved).toMatchObject([{ tool: 'add' }]), pollOptions)
    expect(removedPins).toEqual([])
    expect((await pinned.pins.check('calc', [tool])).changes).toHaveLength(1)
  })

  it.each([
    '{ "version": 1, "pins": [{ "server": "calc" }] }',
    '{ "version": 2, "pins": [] }',
    '{ "version": 1, "pins": {} }',
    '[]',
    '',
  ])('drops nothing if it becomes %j', async text => {
    const file = path()
    const { pinned, removedPins, problems } = await watchedPin(file)
    put(file, text)
    await vi.waitFor(() => expect(problems).toHaveLength(1), pollOptions)
    expect([removedPins, pinned.pins.export().pins.length]).toEqual([[], 1])
  })

  it('changes nothing if it is invalid, reports it once and is not overwritten until it is repaired', async () => {
    const file = path()
    const { pinned, problems } = await watchedPin(file)
    put(file, '{ "version": 1')
    await vi.waitFor(() => expect(problems).toHaveLength(1), pollOptions)
    expect(problems[0]).toContain(`invalid pin file ${file}`)
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
    }, pollOptions)
    expect(problems).toHaveLength(1)
  })

  it('reports that it was deleted, and is written again by the next save', async () => {
    const file = path()
    const before = new Pins()
    await before.check('calc', [tool])
    writeFileSync(file, pinText(before))
    const { pinned, problems } = await watchFile(file)
    rmSync(file)
    await vi.waitFor(() => expect(problems[0]).toContain('no such file'), pollOptions)
    pinned.save()
    await pinned.close()
    expect(readFileSync(file, 'utf8')).toContain('"add"')
  })
})

it('is written again after it could not be written, and says so once', async () => {
  const file = path()
  const { pinned, problems } = await watchFile(file)
  // In place of a full disk: the file cannot be created without its folder.
  rmSync(dirname(file), { recursive: true })
  await pinned.pins.check('calc', [tool])
  pinned.save()
  await vi.waitFor(() => expect(problems).toHaveLength(1), pollOptions)
  expect(problems[0]).toMatch(/^unsaved: /)
  mkdirSync(dirname(file))
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"add"'), pollOptions)
  await vi.waitFor(() => expect(problems.at(-1)).toBe('saved'), pollOptions)
  expect(problems.filter(text => text.startsWith('unsaved'))).toHaveLength(1)
  expect(readdirSync(dirname(file))).toEqual(['pins.json'])
})
