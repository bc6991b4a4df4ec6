/**
 * Cuts the text of an event stream into whole events, so that a copy never ends in the middle of one, and remembers
 * the id of the last of them.
 */
export class EventCopy {
  #rest = ''
  #lastId: string | undefined

  /** The id of the last event that `take` has returned; undefined if none had an id. */
  get lastId(): string | undefined {
    return this.#lastId
  }

  /** Adds a part of the text. Returns the events that are complete; empty if there are none. */
  take(text: string): string {
    const all = this.#rest + text
    const end = all.lastIndexOf('\n\n')
    if (end === -1) {
      this.#rest = all
      return ''
    }
    const events = all.slice(0, end + 2)
    this.#rest = all.slice(end + 2)
    this.#lastId = lastIdIn(events) ?? this.#lastId
    return events
  }

  /** Forgets an event that was cut off, because the rest of it will never arrive. */
  dropIncomplete(): void {
    this.#rest = ''
  }
}

function lastIdIn(events: string): string | undefined {
  const found = events.lastIndexOf('\nid: ')
  const start = found === -1 ? (events.startsWith('id: ') ? 4 : -1) : found + 5
  return start === -1 ? undefined : events.slice(start, events.indexOf('\n', start))
}
