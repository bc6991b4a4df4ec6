import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { writeOutput } from '../output-file.ts'
import { withTarget } from '../target/connect.ts'
import { formatBytes } from '../terminal.ts'
import { interfacesOf } from './interfaces.ts'

/** `trunkline types`: prints TypeScript interfaces of the tools and prompts of a server, or writes them to a file. */
export const run: Run = async invocation => {
  const { input, terminal, signal } = invocation
  return withTarget(invocation, async ({ client, operands }) => {
    const [extra] = operands
    if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`)
    const { capabilities } = client.server
    const how = { signal }
    const tools: Tool[] = []
    const prompts: Prompt[] = []
    if (capabilities.tools) for await (const tool of client.tools(how)) tools.push(tool)
    if (capabilities.prompts) for await (const prompt of client.prompts(how)) prompts.push(prompt)
    const text = interfacesOf({ server: client.server, tools, prompts })
    const file = input.value('output')
    if (file !== undefined) {
      await writeOutput(file, text)
      terminal.note(`wrote ${formatBytes(Buffer.byteLength(text))} to ${file}`)
    }
    if (input.has('json')) terminal.json({ tools: tools.length, prompts: prompts.length, text })
    else if (file === undefined) terminal.write(text)
    return exitCodes.ok
  })
}
