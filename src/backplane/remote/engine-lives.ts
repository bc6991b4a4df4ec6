/**
 * Notices that an engine was emptied. Each engine keeps a random text for as long as it keeps its data; another
 * text means that it was emptied and has started a new life.
 */
export class EngineLives {
  /** The last known text of each engine. */
  readonly #known = new Map<string, string>()

  /** Remembers the text of an engine. Returns whether it is another one than before. */
  notice(engine: string, born: string): boolean {
    const before = this.#known.get(engine)
    this.#known.set(engine, born)
    return before !== undefined && before !== born
  }
}
