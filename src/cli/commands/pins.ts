import { type PinChange, Pins } from '../../router/pins/pins.ts'
import { didYouMean } from '../../util/nearest.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { oneLine, type Terminal } from '../terminal.ts'
import {
  isMissing,
  parsePins,
  pinText,
  readPinFile,
  unusablePinFile,
  withPinLock,
  writePinFile,
} from '../up/pin-store.ts'

/**
 * `trunkline pins`: lists the tools in a pin file whose definition has changed, and approves the named ones. A
 * running router that uses the file applies approvals at once.
 */
export const run: Run = async ({ input, terminal }) => {
  const [path, ...more] = input.operands
  if (path === undefined || more.length > 0) {
    throw new UsageError('expected one pin file: the FILE of "up --pins FILE"')
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
  if (approved.length === 0) terminal.note('nothing to approve')
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
      throw new UsageError(`${path} does not exist; "up --pins ${path}" creates it`, {
        cause: error,
      })
    }
    throw error instanceof UsageError ? error : unusablePinFile(path, error)
  }
}

/** Approves all named changes or none, while holding the lock of the file. */
async function approve(
  path: string,
  named: readonly string[],
  isAll: boolean,
): Promise<readonly PinChange[]> {
  // Loaded first, so that no lock file is created for a missing pin file.
  await load(path)
  return withPinLock(path, async () => {
    const pins = await load(path)
    const all = isAll ? pins.changes() : []
    const chosen = new Set([...all, ...named.map(name => findChange(pins.changes(), name))])
    for (const { server, tool, seen } of chosen) pins.approve(server, tool, seen)
    if (chosen.size > 0) await writePinFile(path, pinText(pins))
    return [...chosen]
  }).catch(error => {
    if (error instanceof UsageError) throw error
    const reason = errorMessage(error)
    throw new UsageError(`cannot write the pin file ${path}: ${reason}`, { cause: error })
  })
}

/**
 * Finds a change by `server/tool`, or by `server/tool@digest` with at least 8 digits of the digest. Throws a
 * UsageError if there is none, or if the digest differs.
 */
function findChange(changes: readonly PinChange[], name: string): PinChange {
  const plain = changes.find(change => nameOf(change) === name)
  if (plain !== undefined) return plain
  const at = name.lastIndexOf('@')
  const digest = name.slice(at + 1)
  const change = changes.find(one => at > 0 && nameOf(one) === name.slice(0, at))
  if (change === undefined) {
    const names = changes.map(nameOf)
    const hint =
      didYouMean(name, names) || (names.length > 0 ? `; pending: ${names.join(', ')}` : '')
    throw new UsageError(`no pending change for "${name}"${hint}`)
  }
  if (/^[\da-f]{8,64}$/.test(digest) && change.seen.startsWith(digest)) return change
  throw new UsageError(
    `"${nameOf(change)}" is now ${short(change)}, not ${digest || 'empty'}; review it again`,
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
    terminal.line(`${tools}; nothing to approve`)
    return
  }
  terminal.line(`${tools}; ${changes.length} changed:`)
  for (const change of changes) {
    terminal.line()
    terminal.line(`${terminal.style(titleOf(change), 'bold')} (${change.changed.join(', ')})`)
    for (const line of pins.differences(change.server, change.tool)) terminal.line(`  ${line}`)
    if (change.invisible > 0) {
      const warning = `invisible characters: ${change.invisible}`
      terminal.line(`  ${terminal.style(warning, 'red')}`)
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

/** The name as typed on the command line. */
function nameOf({ server, tool }: PinChange): string {
  return `${server}/${tool}`
}

/** The name as printed. */
function titleOf(change: PinChange): string {
  return oneLine(nameOf(change), 200)
}

function short({ seen }: PinChange): string {
  return seen.slice(0, 12)
}

/** Quotes text for a POSIX shell if necessary. */
function quoted(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
