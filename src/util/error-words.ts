/** What went wrong, in the words of whatever was thrown: anything can be. */
export function errorWords(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
