/** Formats a number with three significant figures. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (value !== 0 && Math.abs(value) < 0.01) return '< 0.01'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ')
  return `${Number(value.toPrecision(3))}`
}

/** Formats a duration in milliseconds; a dash for none. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1000) return `${figure(ms)} ms`
  if (ms < 60_000) return `${figure(ms / 1000)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`
}

/** Formats a number of bytes. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`
  if (count < 1e6) return `${figure(count / 1e3)} kB`
  return count < 1e9 ? `${figure(count / 1e6)} MB` : `${figure(count / 1e9)} GB`
}

/** Formats a share from 0 to 1. */
export function percent(share: number): string {
  return `${figure(share * 100)} %`
}

/** Formats the time of day of a moment in milliseconds since 1970. */
export function clock(at: number, hasMillis = false): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  return hasMillis ? `${time}.${String(date.getMilliseconds()).padStart(3, '0')}` : time
}

/** Returns a text in which characters that are invisible or change the direction are shown as their numbers. */
export function visible(text: string): string {
  return text.replace(unseen, character => {
    return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}

const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{E0000}-\u{E0FFF}]/gu
