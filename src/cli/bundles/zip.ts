import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { limits } from '../../util/limits/limits.ts'

/** A file in a ZIP archive. */
export interface ZipEntry {
  /** The path, with forward slashes, checked to stay in the folder of the archive. */
  readonly name: string
  readonly isExecutable: boolean
  /** The size of its content. */
  readonly size: number
  /** Returns its content. Rejects with an Error whose message is the reason if it is damaged. */
  read(): Promise<Uint8Array>
}

/**
 * Reads the directory of a ZIP archive and returns its files. Throws an Error whose message is the reason for an
 * archive that is damaged, encrypted or beyond the limits, and for one with links, or with paths that lead out of
 * its folder or exist twice.
 *
 * It is written here because Node has no reader of archives, and a bundle needs only this part of the format.
 */
export function readZip(archive: Buffer): readonly ZipEntry[] {
  const { offset, count } = directoryOf(archive)
  const entries: ZipEntry[] = []
  const names = new Set<string>()
  let total = 0
  let at = offset
  for (let index = 0; index < count; index++) {
    const header = headerAt(archive, at)
    at = header.next
    const { name, size } = header
    total += size
    if (total > limits.bundleUnpackedBytes.default) {
      throw new Error(`it unpacks to more than ${limits.bundleUnpackedBytes.default} bytes`)
    }
    if (name.endsWith('/')) continue
    // Some file systems ignore case, and one file would replace the other.
    const key = name.normalize('NFC').toLowerCase()
    if (names.has(key)) throw new Error(`it contains ${quoted(name)} twice`)
    names.add(key)
    const { isExecutable } = header
    entries.push({ name, isExecutable, size, read: () => contentOf(archive, header) })
  }
  return entries
}

interface ZipHeader {
  readonly name: string
  readonly method: number
  readonly crc: number
  readonly packedSize: number
  readonly size: number
  readonly start: number
  readonly isExecutable: boolean
  /** The offset of the next header. */
  readonly next: number
}

const damaged = 'it is not a complete ZIP archive'

/** Finds the directory by the record at the end of the archive, which may be followed by a comment. */
function directoryOf(archive: Buffer): { readonly offset: number; readonly count: number } {
  const last = archive.length - 22
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    if (archive.readUInt32LE(at) !== 0x06054b50) continue
    const count = archive.readUInt16LE(at + 10)
    const offset = archive.readUInt32LE(at + 16)
    if (count === 0xffff || offset === 0xffffffff) throw new Error('it is in the format ZIP64')
    if (offset > at) throw new Error(damaged)
    return { offset, count }
  }
  throw new Error(damaged)
}

function headerAt(archive: Buffer, at: number): ZipHeader {
  if (at + 46 > archive.length || archive.readUInt32LE(at) !== 0x02014b50) throw new Error(damaged)
  const nameLength = archive.readUInt16LE(at + 28)
  const next = at + 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
  const problem = nameProblem(name)
  if (problem !== undefined) throw new Error(`it contains ${quoted(name)}, which ${problem}`)
  if ((archive.readUInt16LE(at + 8) & 1) !== 0) throw new Error('it is encrypted')
  // The upper half holds the mode of a Unix file.
  const mode = archive.readUInt16LE(at + 40)
  const kind = mode & 0o170000
  if (kind !== 0 && kind !== 0o100000 && kind !== 0o040000) {
    throw new Error(`it contains ${quoted(name)}, which is a link or a device`)
  }
  return {
    name,
    method: archive.readUInt16LE(at + 10),
    crc: archive.readUInt32LE(at + 16),
    packedSize: archive.readUInt32LE(at + 20),
    size: archive.readUInt32LE(at + 24),
    start: archive.readUInt32LE(at + 42),
    isExecutable: (mode & 0o111) !== 0,
    next,
  }
}

/** Returns why a path must not be unpacked, as the rest of a sentence. */
function nameProblem(name: string): string | undefined {
  if (name === '' || /[\\:\p{Cc}]/u.test(name)) return 'is not a valid path'
  const parts = name.replace(/\/$/, '').split('/')
  // Windows drops dots and spaces at the end, so that ".. " would be "..".
  const isUnsafe = parts.some(part => /^[. ]*$/.test(part) || /[. ]$/.test(part))
  return isUnsafe ? 'leads out of its folder or is ambiguous' : undefined
}

const unpack = promisify(inflateRaw)

async function contentOf(archive: Buffer, header: ZipHeader): Promise<Uint8Array> {
  const { name, method, start, packedSize, size, crc } = header
  const broken = (): Error => new Error(`${quoted(name)} is damaged`)
  if (start + 30 > archive.length || archive.readUInt32LE(start) !== 0x04034b50) throw broken()
  const from = start + 30 + archive.readUInt16LE(start + 26) + archive.readUInt16LE(start + 28)
  const packed = archive.subarray(from, from + packedSize)
  if (packed.length !== packedSize) throw broken()
  if (method !== 0 && method !== 8)
    throw new Error(`${quoted(name)} is compressed in an unknown way`)
  // The declared size is the limit, so that no content is larger than the archive says.
  const options = { maxOutputLength: Math.max(1, size) }
  const content =
    method === 0 ? packed : await unpack(packed, options).catch(() => Promise.reject(broken()))
  if (content.length !== size || crc32(content) !== crc) throw broken()
  return content
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 80))
}
