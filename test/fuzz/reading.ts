import type { Framing } from '../../src/wire/frame.ts'
import { SseReader } from '../../src/wire/sse.ts'

/**
 * Everything a framing tells about the pieces, in order, as lines of text: `frame …` with one
 * character per byte, `oversize`, `broken …`, and `unfinished` if the end left something over.
 */
export function frames(
  framing: Framing,
  pieces: readonly Uint8Array[],
  maxBytes: number,
): readonly string[] {
  const told: string[] = []
  const reader = framing.reader(
    {
      frame: (bytes, start, end) => {
        told.push(`frame ${Buffer.from(bytes.subarray(start, end)).toString('latin1')}`)
      },
      oversize: () => told.push('oversize'),
      broken: why => told.push(`broken ${why}`),
    },
    maxBytes,
  )
  pushAll(reader, pieces)
  if (reader.end()) told.push('unfinished')
  return told
}

/** The same for an event stream: each event as JSON, `retry …`, `oversize`, and the last id. */
export function events(pieces: readonly Uint8Array[], maxBytes: number): readonly string[] {
  const told: string[] = []
  const reader = new SseReader(
    {
      event: event => told.push(JSON.stringify(event)),
      retry: ms => told.push(`retry ${ms}`),
      oversize: () => told.push('oversize'),
    },
    maxBytes,
  )
  pushAll(reader, pieces)
  reader.end()
  told.push(`last id ${JSON.stringify(reader.lastEventId)}`)
  return told
}

/** One byte for each character. */
export function latin1(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}

/** Every way to cut the bytes in two. */
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
    // Whoever reads on from a chunk after the push now reads rubbish.
    chunk.fill(0xaa)
  }
}
