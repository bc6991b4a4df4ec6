import type { Client } from '../../client/client.ts'
import type { ToolAnswer } from '../../client/results.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { contentText } from '../formats.ts'
import { didYouMean } from '../nearest.ts'
import { withTarget } from '../opening.ts'
import type { Run, Session } from '../session.ts'
import { oneLine, type Terminal } from '../terminal.ts'
import { argumentsOf } from '../tool-arguments.ts'

/** Calls a tool and shows what it gives. */
export const run: Run = async session => {
  const { input, terminal, signal, stdin } = session
  return withTarget(session, async ({ client, operands }) => {
    const [name, ...rest] = operands
    if (name === undefined) throw new UsageError('the name of a tool is needed')
    const tools = await toolsOf(client, signal)
    const tool = tools.find(each => each.name === name)
    const given = { operands: rest, args: input.value('args'), stdin }
    const args = await argumentsOf(given, tool?.inputSchema)
    const bar = terminal.progress(oneLine(name, 40))
    try {
      const answer = await client.call(name, args, {
        signal,
        onProgress: ({ progress, total, message = '' }) => {
          const words =
            total === undefined ? `${progress} ${message}` : `${progress}/${total} ${message}`
          bar.step(total === undefined ? undefined : progress / total, words)
        },
      })
      bar.end()
      return shown(answer, session)
    } catch (error) {
      bar.end()
      if (error instanceof RpcError && tool === undefined && tools.length > 0) {
        hint(name, tools, terminal)
      }
      throw error
    }
  })
}

async function toolsOf(client: Client, signal: AbortSignal): Promise<readonly Tool[]> {
  const tools: Tool[] = []
  if (client.server.capabilities.tools === undefined) return tools
  for await (const tool of client.tools({ signal })) tools.push(tool)
  return tools
}

function shown({ content, structured, isError, raw }: ToolAnswer, session: Session): number {
  const { input, terminal } = session
  const exitCode = isError ? exitCodes.failed : exitCodes.ok
  if (input.has('json')) {
    terminal.json(raw)
    return exitCode
  }
  const words = content.map(block => contentText(block, terminal.isInteractive)).join('\n')
  if (isError) {
    terminal.complain(`${terminal.tint('the tool failed:', 'red', 'bold')} ${words}`)
    return exitCode
  }
  if (words !== '') terminal.line(words)
  if (structured !== undefined && !isSaid(structured, words)) {
    if (words !== '') terminal.line()
    terminal.json(structured)
  }
  return exitCode
}

/** Whether the text is the structured part once more, as servers are asked to send it. */
function isSaid(structured: unknown, words: string): boolean {
  try {
    return JSON.stringify(JSON.parse(words)) === JSON.stringify(structured)
  } catch {
    return false
  }
}

function hint(name: string, tools: readonly Tool[], terminal: Terminal): void {
  const names = tools.map(tool => oneLine(tool.name, 128))
  const meant = didYouMean(name, names)
  terminal.note(
    `the server lists no tool "${name}"${meant || `; it has ${oneLine(names.join(', '), 500)}`}`,
  )
}
