import type { Members } from '../mcp/types/base.ts'

/** Whether a value from the other side is an object with members. */
export function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The strings in what should be a list of them; undefined for anything else. */
export function stringsIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : undefined
}
