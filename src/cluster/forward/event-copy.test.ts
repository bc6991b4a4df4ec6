import { describe, expect, test } from 'vitest'
import { EventCopy } from './event-copy.ts'

describe('EventCopy', () => {
  test('returns whole events, however the text is split', () => {
    const text = 'event: message\nid: a-1\ndata: {"x":1}\n\n: comment\n\nid: a-2\ndata: \n\n'
    for (let size = 1; size <= text.length; size++) {
      const copy = new EventCopy()
      let copied = ''
      for (let at = 0; at < text.length; at += size) {
        const events = copy.take(text.slice(at, at + size))
        expect(events === '' || events.endsWith('\n\n')).toBe(true)
        copied += events
      }
      expect(copied).toBe(text)
      expect(copy.lastId).toBe('a-2')
    }
  })

  test('remembers the id of the last whole event only', () => {
    const copy = new EventCopy()
    expect(copy.take('id: 1\ndata: x\n\nid: 2\ndata: y')).toBe('id: 1\ndata: x\n\n')
    expect(copy.lastId).toBe('1')
    copy.dropIncomplete()
    expect(copy.take('id: 3\ndata: z\n\n')).toBe('id: 3\ndata: z\n\n')
    expect(copy.lastId).toBe('3')
  })

  test('does not take a part of the data for an id', () => {
    const copy = new EventCopy()
    copy.take('data: "id: 7"\n\n')
    expect(copy.lastId).toBeUndefined()
  })
})
