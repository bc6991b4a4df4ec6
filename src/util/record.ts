/** Whether a value from outside is an object with members: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The strings in what should be a list of them; undefined for anything else. */
export function stringsIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : undefined
}
