import { Server } from '../../src/server/server.ts'
import { type Deferred, deferred } from '../../src/util/promises.ts'

/** A server whose tools wait until a test releases them. */
export interface Stage {
  readonly server: Server
  /** Returns the gate that blocks calls of `wait` and `work` with this word, until it is resolved. */
  gate(word: string): Deferred<void>
  /** The words of calls whose signal was aborted. */
  readonly aborted: string[]
  /** Runs pending microtasks. */
  settle(): Promise<void>
}

const word = {
  type: 'object',
  properties: { word: { type: 'string' } },
  required: ['word'],
} as const

/** Tools: `echo`; `wait`, which waits at its gate; `work`, with progress before and after it; `ask`; `change`. */
export function stage(): Stage {
  const server = new Server({ name: 'stage', version: '1' }, { onError: () => {} })
  const gates = new Map<string, Deferred<void>>()
  const aborted: string[] = []
  const gate = (name: string): Deferred<void> => {
    const found = gates.get(name) ?? deferred<void>()
    gates.set(name, found)
    return found
  }
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
  const wordOf = (input: unknown): string => (input as { word: string }).word

  server.tool('echo', { input: word }, input => text(wordOf(input)))
  server.tool('wait', { input: word }, async (input, ctx) => {
    // A call may be cancelled before it starts.
    if (ctx.signal.aborted) aborted.push(wordOf(input))
    else ctx.signal.addEventListener('abort', () => aborted.push(wordOf(input)))
    await gate(wordOf(input)).promise
    return text(wordOf(input))
  })
  server.tool('work', { input: word }, async (input, ctx) => {
    ctx.progress(1, 2)
    await gate(wordOf(input)).promise
    ctx.progress(2, 2)
    return text(wordOf(input))
  })
  server.tool('ask', {}, async (_, ctx) => {
    const form = { type: 'object', properties: { ok: { type: 'boolean' } } } as const
    const { ok } = (await ctx.elicit({ message: 'Sure?', schema: form })) as { ok: boolean }
    return text(`${ok}`)
  })
  const extra = server.tool('extra', {}, () => text('extra'))
  server.tool('change', {}, () => {
    extra.update({ description: `${Math.random()}` })
    return text('changed')
  })
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await undefined
  }
  return { server, gate, aborted, settle }
}

/** Returns the text of a result of one of these tools. */
export function said(message: { result?: { content?: { text?: string }[] } }): string | undefined {
  return message.result?.content?.[0]?.text
}
