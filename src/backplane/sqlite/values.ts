const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns text as bytes, which SQLite stores exactly, also with NUL. */
export function toBytes(value: string): Uint8Array {
  return encoder.encode(value)
}

/** Returns the text of a column with bytes. Node 22 stores no bytes at all as NULL. */
export function textColumn(column: unknown): string {
  if (column === null) return ''
  if (column instanceof Uint8Array) return decoder.decode(column)
  throw unexpected(column)
}

/** Returns a column with a whole number. */
export function countColumn(column: unknown): number {
  if (typeof column === 'number' && Number.isSafeInteger(column)) return column
  throw unexpected(column)
}

/** Returns a column with a number. */
export function numberColumn(column: unknown): number {
  if (typeof column === 'number') return column
  throw unexpected(column)
}

function unexpected(column: unknown): TypeError {
  return new TypeError(
    `the file has a column of the type ${typeof column} where another is expected`,
  )
}
