import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Caller, Case } from './cases.ts'

/** A conversation of two programs, seen from the caller. */
export interface Conversation {
  readonly caller: Caller
  readonly end: () => Promise<unknown>
}

export type Directions = Readonly<Record<string, () => Promise<Conversation>>>

/** Runs all cases over each transport, on one connection. */
export function talkThrough(who: string, directions: Directions, cases: readonly Case[]): void {
  const rows = Object.entries(directions).map(([name, open]) => ({ name, open }))
  describe.each(rows)(`${who} over $name`, ({ open }) => {
    let conversation: Conversation
    beforeAll(async () => {
      conversation = await open()
    })
    afterAll(() => conversation.end())

    it.each(cases)('agree on $name', ({ run }) => run(conversation.caller))
  })
}
