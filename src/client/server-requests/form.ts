import { receivedForm } from '../../mcp/elicitation/schema.ts'
import { issueText } from '../../mcp/schema/issues.ts'
import type { ElicitResult } from '../../mcp/types/elicitation.ts'

/**
 * A filled-in form as it goes to the server: with the defaults of what was left out, and checked, so
 * that a mistake of a handler shows where it was made. Throws a TypeError for such a mistake.
 */
export function filledIn(requestedSchema: unknown, result: ElicitResult): ElicitResult {
  const { action, content = {} } = result
  if (action === 'decline' || action === 'cancel') return { action }
  if (action !== 'accept') throw new TypeError(`elicit: there is no action "${action}"`)
  const form = receivedForm(requestedSchema)
  const complete = form.applyDefaults(content)
  const checked = form.check(complete)
  if (!checked.ok) {
    throw new TypeError(`elicit: the answer does not fit the form: ${issueText(checked.issues)}`)
  }
  // The check: each field is what the form says, and fields of forms are primitive.
  return { action, content: complete as ElicitResult['content'] }
}
