import { isRecord } from '../../util/record.ts'

/**
 * What is wrong with the messages a model is to continue, in words; undefined when nothing is.
 *
 * From 2025-11-25 on, a message with the results of tools holds nothing else, and answers every wish
 * for a tool of the message before it.
 */
export function messagesProblem(messages: readonly unknown[]): string | undefined {
  let open = new Set<unknown>()
  for (const message of messages) {
    if (!isRecord(message)) return 'a message is no object'
    const blocks = blocksOf(message.content)
    const results = blocks.filter(block => block.type === 'tool_result')
    if (results.length > 0 && results.length < blocks.length) {
      return 'a message with results of tools holds something else too'
    }
    for (const { toolUseId } of results) {
      if (!open.delete(toolUseId)) return 'a result of a tool answers nothing that was wished for'
    }
    if (open.size > 0) return 'a wish for a tool is not answered in the next message'
    const wishes = blocks.filter(block => block.type === 'tool_use')
    open = new Set(wishes.map(({ id }) => id))
  }
  return open.size > 0 ? 'a wish for a tool is not answered' : undefined
}

function blocksOf(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  return (Array.isArray(content) ? content : [content]).filter(isRecord)
}
