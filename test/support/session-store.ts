import type { SessionRecord } from '../../src/http/server/sessions/moving/session-record.ts'
import type { SessionStore } from '../../src/http/server/sessions/moving/session-store.ts'
import type { StreamEvent } from '../../src/http/server/sessions/moving/stream-event.ts'

/** A store of sessions that keeps JSON text, as one outside of the process would. */
export interface FakeSessionStore extends SessionStore {
  /** The calls of its methods but `event`, in order, such as `opened`. */
  readonly calls: string[]
  /** What `opened` and `ended` return. */
  wait: Promise<void> | undefined
  /** Returns the record of a session; undefined if it is not kept. */
  record(id: string): SessionRecord | undefined
  events(id: string): StreamEvent[]
}

export function fakeSessionStore(): FakeSessionStore {
  const records = new Map<string, string>()
  const events = new Map<string, string[]>()
  const calls: string[] = []
  const put = (name: string, id: string, record: SessionRecord): void => {
    calls.push(name)
    records.set(id, JSON.stringify(record))
  }
  const store: FakeSessionStore = {
    calls,
    wait: undefined,
    opened: (id, record) => {
      put('opened', id, record)
      return store.wait
    },
    changed: (id, record) => put('changed', id, record),
    ended: id => {
      calls.push('ended')
      records.delete(id)
      events.delete(id)
      return store.wait
    },
    touched: () => void calls.push('touched'),
    event: (id, event) => {
      events.set(id, [...(events.get(id) ?? []), JSON.stringify(event)])
    },
    record: id => JSON.parse(records.get(id) ?? 'null') ?? undefined,
    events: id => (events.get(id) ?? []).map(text => JSON.parse(text)),
  }
  return store
}
