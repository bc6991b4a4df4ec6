import { isRecord } from '../../util/record.ts'
import { digestOf } from './digest.ts'

/** One pin, as it is kept in a file. */
export interface PinRecord {
  readonly server: string
  readonly tool: string
  readonly digest: string
  /** Canonical JSON. */
  readonly definition: string
}

/** All pins, as they are kept in a file: plain JSON, in an order that does not depend on chance. */
export interface PinFile {
  readonly version: 1
  readonly pins: readonly PinRecord[]
  /** What was seen otherwise and nobody has approved, for whoever looks at the file. */
  readonly changes?: readonly PinRecord[]
}

/** What a file holds. Rejects with a TypeError where it is none, or a digest does not belong to its definition. */
export async function readPins(file: unknown): Promise<Required<Omit<PinFile, 'version'>>> {
  if (!isRecord(file) || file.version !== 1 || !Array.isArray(file.pins)) {
    throw new TypeError('this is no file of pins: it needs "version": 1 and a list "pins"')
  }
  const pins = readRecords('pins', file.pins)
  const changes = readRecords('changes', file.changes)
  await Promise.all([...pins, ...changes].map(checkDigest))
  return { pins, changes }
}

/** What is kept of the tools of every server, in an order that does not depend on chance. */
export function records<T>(
  servers: ReadonlyMap<string, ReadonlyMap<string, T>>,
  pinOf: (kept: T) => Pick<PinRecord, 'digest' | 'definition'>,
): readonly PinRecord[] {
  const all = Array.from(servers, ([server, tools]) =>
    Array.from(tools, ([tool, kept]) => {
      const { digest, definition } = pinOf(kept)
      return { server, tool, digest, definition }
    }),
  ).flat()
  return all.sort((a, b) => compare(a.server, b.server) || compare(a.tool, b.tool))
}

function readRecords(name: string, given: unknown): readonly PinRecord[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : []
  return list.map((pin, at) => {
    if (isPin(pin)) return pin
    const needed = '"server", "tool", "digest" and "definition"'
    throw new TypeError(`${name}[${at}] needs the texts ${needed}`)
  })
}

async function checkDigest({ server, tool, digest, definition }: PinRecord): Promise<void> {
  if (digest === (await digestOf(server, definition))) return
  const what = `the pin of the tool "${tool}" of "${server}"`
  throw new TypeError(`${what} was edited: its digest is another; remove it to pin the tool anew`)
}

function isPin(pin: unknown): pin is PinRecord {
  if (!isRecord(pin)) return false
  return ['server', 'tool', 'digest', 'definition'].every(name => typeof pin[name] === 'string')
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
