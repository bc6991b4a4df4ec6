import type { Framing } from '../../src/wire/frame.ts'
import { SseReader } from '../../src/wire/sse.ts'

/**
 * Returns everything that a framing reports for the chunks, in order, as lines of text: `frame …` with
 * one character per byte, `oversize`, `broken …`, and `unfinished` if an unfinished frame was left.
 */
export function frames(
  framing: Framing,
  pieces: readonly Uint8Array[],
  maxBytes: number,
): readonly string[] {
  const reports: string[] = []
  const reader = framing.reader(
    {
      frame: (bytes, start, end) => {
        reports.push(`frame ${Buffer.from(bytes.subarray(start, end)).toString('latin1')}`)
      },
      oversize: () => reports.push('oversize'),
      broken: why => reports.push(`broken ${why}`),
    },
    maxBytes,
  )
  pushAll(reader, pieces)
  if (reader.end()) reports.push('unfinished')
  return reports
}

/**
 * Returns everything that an SSE reader reports: each event as JSON, `retry …`, `oversize`, and the
 * last id.
 */
export function events(pieces: readonly Uint8Array[], maxBytes: number): readonly string[] {
  const reports: string[] = []
  const reader = new SseReader(
    {
      event: event => reports.push(JSON.stringify(event)),
      retry: ms => reports.push(`retry ${ms}`),
      oversize: () => reports.push('oversize'),
    },
    maxBytes,
  )
  pushAll(reader, pieces)
  reader.end()
  reports.push(`last id ${JSON.stringify(reader.lastEventId)}`)
  return reports
}

/** One byte for each character. */
export function latin1(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}

/** Every way to split the bytes in two. */
export function* halves(bytes: Uint8Array): Generator<Uint8Array[]> {
  for (let at = 0; at <= bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)]
}

export function singles(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, byte => Uint8Array.of(byte))
}

function pushAll(reader: { push(chunk: Uint8Array): void }, pieces: readonly Uint8Array[]): void {
  for (const piece of pieces) {
    const chunk = Uint8Array.from(piece)
    reader.push(chunk)
    // A reader that uses a chunk after the push reads garbage now.
    chunk.fill(0xaa)
  }
}
