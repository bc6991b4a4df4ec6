import { exitCodes, UsageError } from '../exit.ts'
import { messageText } from '../formats.ts'
import { textArgumentsOf } from '../input/tool-arguments.ts'
import type { Run } from '../invocation.ts'
import { withTarget } from '../target/connect.ts'

/** Gets a prompt, filled in, and shows its messages. */
export const run: Run = async invocation => {
  const { input, terminal, signal, stdin } = invocation
  return withTarget(invocation, async ({ client, operands }) => {
    const [name, ...rest] = operands
    if (name === undefined) throw new UsageError('the name of a prompt is needed')
    const args = await textArgumentsOf({ operands: rest, args: input.value('args'), stdin })
    const result = await client.prompt(name, args, { signal }).catch(error => {
      if (!client.server.capabilities.prompts) terminal.note('the server offers no prompts')
      throw error
    })
    if (input.has('json')) terminal.json(result)
    else for (const message of result.messages) terminal.line(messageText(message, terminal))
    return exitCodes.ok
  })
}
