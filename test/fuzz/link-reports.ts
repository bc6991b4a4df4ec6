import { LinkFrameReader } from '../../src/wire/link-frames.ts'

/**
 * Returns everything that a reader of link frames reports for the chunks, in order, as lines of text with one
 * character per byte: `data STREAM BYTES`, `KIND STREAM PAYLOAD` and `broken REASON`. Pieces of data of the same
 * stream that follow each other are one line.
 */
export function linkReports(pieces: readonly Uint8Array[], maxBytes: number): readonly string[] {
  const reports: string[] = []
  const reader = new LinkFrameReader(
    {
      data: (stream, bytes) => {
        const start = `data ${stream} `
        const text = Buffer.from(bytes).toString('latin1')
        if (reports.at(-1)?.startsWith(start)) reports.push(`${reports.pop()}${text}`)
        else reports.push(start + text)
      },
      frame: (kind, stream, payload) => {
        reports.push(`${kind} ${stream} ${Buffer.from(payload).toString('latin1')}`)
      },
      broken: reason => reports.push(`broken ${reason}`),
    },
    maxBytes,
  )
  for (const piece of pieces) reader.push(Uint8Array.from(piece))
  return reports
}
