import { crc32, deflateRawSync } from 'node:zlib'

/** A file for an archive; the other members make it a hostile one. */
export interface ZipFile {
  readonly name: string
  readonly content: string
  /** The mode of a Unix file; by default an ordinary one. */
  readonly mode?: number
  /** The size that the archive declares; by default the real one. */
  readonly size?: number
  readonly flags?: number
  readonly crc?: number
  readonly isStored?: boolean
}

/** Builds a ZIP archive. */
export function zipOf(files: readonly ZipFile[]): Buffer {
  const locals: Buffer[] = []
  const headers: Buffer[] = []
  let offset = 0
  for (const file of files) {
    const content = Buffer.from(file.content)
    const packed = file.isStored ? content : deflateRawSync(content)
    const name = Buffer.from(file.name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(file.flags ?? 0, 2)
    common.writeUInt16LE(file.isStored ? 0 : 8, 4)
    common.writeUInt32LE(file.crc ?? crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(file.size ?? content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt16LE(file.mode ?? 0o100644, 8)
    tail.writeUInt32LE(offset, 10)
    headers.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), common, tail, name]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(headers)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}
