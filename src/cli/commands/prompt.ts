import { RpcError } from '../../jsonrpc/error.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { messageText } from '../formats.ts'
import { promptArgumentsOf } from '../input/tool-arguments.ts'
import type { Run } from '../invocation.ts'
import { suggestName } from '../suggest.ts'
import { withTarget } from '../target/connect.ts'
import { oneLine } from '../terminal.ts'

/** `trunkline prompt`: gets a prompt with arguments, and prints its messages. */
export const run: Run = async invocation => {
  const { input, terminal, signal, stdin } = invocation
  return withTarget(invocation, async ({ client, operands }) => {
    const [name, ...rest] = operands
    if (name === undefined) throw new UsageError('missing prompt name')
    const suggest = async (wanted: string): Promise<void> => {
      const names: string[] = []
      for await (const prompt of client.prompts({ signal })) names.push(oneLine(prompt.name, 128))
      terminal.note(`the server lists no prompt "${wanted}"${suggestName(wanted, names)}`)
    }
    const args = await promptArgumentsOf({ operands: rest, args: input.value('args'), stdin })
    const result = await client.prompt(name, args, { signal }).catch(async error => {
      if (!client.server.capabilities.prompts) terminal.note('the server has no prompts')
      else if (error instanceof RpcError && error.kind === 'prompt_not_found') await suggest(name)
      throw error
    })
    if (input.has('json')) terminal.json(result)
    else for (const message of result.messages) terminal.line(messageText(message, terminal))
    return exitCodes.ok
  })
}
