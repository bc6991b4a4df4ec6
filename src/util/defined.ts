/** The members that have a value: an option passed on without having one must override nothing. */
export function defined<T extends object>(options: T | undefined): Partial<T> {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined)
  // The check: nothing but members of `options`.
  return Object.fromEntries(entries) as Partial<T>
}
