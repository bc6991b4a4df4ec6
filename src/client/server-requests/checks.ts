import { receivedForm } from '../../mcp/elicitation/schema.ts'
import { issueText } from '../../mcp/schema/issues.ts'
import type { ElicitResult } from '../../mcp/types/elicitation.ts'
import type { Root } from '../../mcp/types/roots.ts'
import { isRecord } from '../../util/objects.ts'
import type { Roots } from '../options.ts'

/**
 * Returns the result of an elicitation as it is sent to the server: omitted fields get the defaults of the
 * form, and the content is checked here, so that an error of a handler shows where it was made. Throws a
 * TypeError if the content does not match the form.
 */
export function filledIn(requestedSchema: unknown, result: ElicitResult): ElicitResult {
  const { action, content = {} } = result
  if (action === 'decline' || action === 'cancel') return { action }
  if (action !== 'accept') throw new TypeError(`elicit: unknown action "${action}"`)
  const form = receivedForm(requestedSchema)
  const complete = form.applyDefaults(content)
  const checked = form.check(complete)
  if (!checked.ok) {
    throw new TypeError(`elicit: the content does not match the form: ${issueText(checked.issues)}`)
  }
  // The check: each field matches the form, and form fields are primitive.
  return { action, content: complete as ElicitResult['content'] }
}

/** Returns the current roots. Rejects with a TypeError for a root that must not be sent to a server. */
export async function currentRoots(roots: Roots): Promise<readonly Root[]> {
  const found = typeof roots === 'function' ? await roots() : roots
  return checkedRoots(found)
}

/**
 * Returns the roots unchanged if each is the `file://` URL of a directory or file. Throws a TypeError for
 * any other, also for a path with `..`, which may lead to a place that the server must not access.
 */
export function checkedRoots(roots: readonly Root[]): readonly Root[] {
  for (const { uri } of roots) {
    if (typeof uri !== 'string' || !uri.startsWith('file://') || !URL.canParse(uri)) {
      throw new TypeError(`a root must be a file:// URL (got ${JSON.stringify(uri)})`)
    }
    if (/(?:^|[\\/])(?:\.|%2e){2}(?:[\\/]|$|[?#])|%2f|%5c|%00/i.test(uri)) {
      throw new TypeError(
        `a root must not contain ".." or encoded separators (got ${JSON.stringify(uri)})`,
      )
    }
  }
  return roots
}

/**
 * Returns what is wrong with the messages of a sampling request; undefined if they are valid.
 *
 * From 2025-11-25 on, a message with tool results must hold nothing else, and must have a result for every
 * tool use of the message before it.
 */
export function messagesProblem(messages: readonly unknown[]): string | undefined {
  let open = new Set<unknown>()
  for (const message of messages) {
    if (!isRecord(message)) return 'a message is not an object'
    const blocks = blocksOf(message.content)
    const results = blocks.filter(block => block.type === 'tool_result')
    if (results.length > 0 && results.length < blocks.length) {
      return 'a message with tool results has other content too'
    }
    for (const { toolUseId } of results) {
      if (!open.delete(toolUseId)) return 'a tool result has no matching tool use'
    }
    if (open.size > 0) return 'a tool use has no result in the next message'
    const uses = blocks.filter(block => block.type === 'tool_use')
    open = new Set(uses.map(({ id }) => id))
  }
  return open.size > 0 ? 'a tool use has no result' : undefined
}

function blocksOf(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  return (Array.isArray(content) ? content : [content]).filter(isRecord)
}
