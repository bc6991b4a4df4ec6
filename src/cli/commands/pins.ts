import { type PinChange, Pins } from '../../router/pins/pins.ts'
import { didYouMean } from '../../util/did-you-mean.ts'
import { errorWords } from '../../util/error-words.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { oneLine, type Terminal } from '../terminal.ts'
import {
  isMissing,
  parsePins,
  pinText,
  readPinFile,
  unusable,
  withPinLock,
  writePinFile,
} from '../up/pin-store.ts'

/**
 * Shows the tools in a file of pins that are no longer what they were, and approves those that are
 * named. A router that keeps its pins in the file acts on it at once.
 */
export const run: Run = async ({ input, terminal }) => {
  const [path, ...more] = input.operands
  if (path === undefined || more.length > 0) {
    throw new UsageError('one file of pins is needed: the one that "up --pins FILE" was given')
  }
  const named = input.values('approve')
  const isAll = input.has('approve-all')
  if (named.length === 0 && !isAll) {
    show(terminal, path, await load(path), input.has('json'))
    return exitCodes.ok
  }
  const approved = await approve(path, named, isAll)
  if (input.has('json')) terminal.json({ file: path, approved })
  else for (const change of approved) terminal.line(`approved ${titleOf(change)}: ${change.diff}`)
  if (approved.length === 0) terminal.note('nothing waits for approval')
  return exitCodes.ok
}

async function load(path: string): Promise<Pins> {
  const pins = new Pins()
  try {
    const { text } = await readPinFile(path)
    await pins.import(parsePins(path, text), { changes: true })
    return pins
  } catch (error) {
    if (isMissing(error)) {
      throw new UsageError(`there is no file ${path}; "up --pins ${path}" makes one`, {
        cause: error,
      })
    }
    throw error instanceof UsageError ? error : unusable(path, error)
  }
}

/** Approves all that is named or nothing, with nobody else writing meanwhile. */
async function approve(
  path: string,
  named: readonly string[],
  isAll: boolean,
): Promise<readonly PinChange[]> {
  // Looked at first: a lock beside a file that is not there would be a file too many.
  await load(path)
  return withPinLock(path, async () => {
    const pins = await load(path)
    const wanted = isAll ? pins.changes() : []
    const chosen = new Set([...wanted, ...named.map(name => found(pins.changes(), name))])
    for (const { server, tool, seen } of chosen) pins.approve(server, tool, seen)
    if (chosen.size > 0) await writePinFile(path, pinText(pins))
    return [...chosen]
  }).catch(error => {
    if (error instanceof UsageError) throw error
    const why = errorWords(error)
    throw new UsageError(`the pins in ${path} cannot be written: ${why}`, { cause: error })
  })
}

/** The change that is meant: `server/tool`, or `server/tool@digest`, of which a beginning will do. */
function found(changes: readonly PinChange[], name: string): PinChange {
  const plain = changes.find(change => nameOf(change) === name)
  if (plain !== undefined) return plain
  const at = name.lastIndexOf('@')
  const digest = name.slice(at + 1)
  const change = changes.find(one => at > 0 && nameOf(one) === name.slice(0, at))
  if (change === undefined) {
    const names = changes.map(nameOf)
    const hint =
      didYouMean(name, names) || (names.length > 0 ? `; what waits: ${names.join(', ')}` : '')
    throw new UsageError(`"${name}" does not wait for approval${hint}`)
  }
  if (/^[\da-f]{8,64}$/.test(digest) && change.seen.startsWith(digest)) return change
  throw new UsageError(
    `"${nameOf(change)}" is ${short(change)} now, not ${digest || 'that'}; look at it once more`,
  )
}

function show(terminal: Terminal, path: string, pins: Pins, isJson: boolean): void {
  const changes = pins.changes()
  const pinned = pins.export().pins.length
  if (isJson) {
    const all = changes.map(change => ({
      ...change,
      diff: pins.differences(change.server, change.tool),
    }))
    terminal.json({ file: path, pinned, changes: all })
    return
  }
  const tools = `${pinned} ${pinned === 1 ? 'tool' : 'tools'} pinned`
  if (changes.length === 0) {
    terminal.line(`${tools}; nothing waits for approval`)
    return
  }
  terminal.line(`${tools}; ${changes.length} no longer as pinned:`)
  for (const change of changes) {
    terminal.line()
    terminal.line(`${terminal.paint(titleOf(change), 'bold')} (${change.changed.join(', ')})`)
    for (const line of pins.differences(change.server, change.tool)) terminal.line(`  ${line}`)
    if (change.invisible > 0) {
      const words = `characters that cannot be seen: ${change.invisible}`
      terminal.line(`  ${terminal.paint(words, 'red')}`)
    }
  }
  terminal.line()
  terminal.line('To approve:')
  for (const change of changes) {
    terminal.line(
      `  trunkline pins ${path} --approve ${quoted(`${titleOf(change)}@${short(change)}`)}`,
    )
  }
}

/** As it is typed. */
function nameOf({ server, tool }: PinChange): string {
  return `${server}/${tool}`
}

/** As it is shown. */
function titleOf(change: PinChange): string {
  return oneLine(nameOf(change), 200)
}

function short({ seen }: PinChange): string {
  return seen.slice(0, 12)
}

/** For a shell, where it needs it. */
function quoted(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
