import type { Client } from '../../client/client.ts'
import type { ToolAnswer } from '../../client/results.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { didYouMean } from '../../util/did-you-mean.ts'
import { isRecord } from '../../util/record.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { contentText } from '../formats.ts'
import { argumentsOf } from '../input/tool-arguments.ts'
import type { Invocation, Run } from '../invocation.ts'
import { learnMissing } from '../missing.ts'
import { withTarget } from '../target/connect.ts'
import { oneLine, type Terminal } from '../terminal.ts'

/** Calls a tool and shows what it gives. */
export const run: Run = async invocation => {
  const { input, terminal, signal, stdin } = invocation
  return withTarget(invocation, async ({ client, operands }) => {
    const [name, ...rest] = operands
    if (name === undefined) throw new UsageError('the name of a tool is needed')
    const missing = new Map<string, string>()
    const tools = await toolsOf(client, signal, missing)
    const tool = tools.find(each => each.name === name)
    const given = { operands: rest, args: input.value('args'), stdin }
    const args = await argumentsOf(given, tool?.inputSchema)
    if (tool !== undefined) noteUnnamed(args, tool.inputSchema, terminal)
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
      return shown(answer, invocation)
    } catch (error) {
      bar.end()
      // Of any other error, that the tool is not listed is no explanation.
      const isUnknown = error instanceof RpcError && error.kind === 'tool_not_found'
      if (isUnknown && tool === undefined) hint(name, tools, missing, terminal)
      throw error
    }
  })
}

async function toolsOf(
  client: Client,
  signal: AbortSignal,
  missing: Map<string, string>,
): Promise<readonly Tool[]> {
  const tools: Tool[] = []
  if (client.server.capabilities.tools === undefined) return tools
  const onMeta = (meta: Members): void => learnMissing(meta, missing)
  for await (const tool of client.tools({ signal, onMeta })) tools.push(tool)
  return tools
}

/** Tells of arguments that the schema of the tool does not name: most tools pass over them in silence. */
function noteUnnamed(args: object, schema: unknown, terminal: Terminal): void {
  if (!isRecord(schema) || !isRecord(schema.properties)) return
  const names = Object.keys(schema.properties)
  for (const name of Object.keys(args)) {
    if (names.length === 0 || names.includes(name)) continue
    const hint = didYouMean(name, names) || `; it names ${oneLine(names.join(', '), 300)}`
    terminal.note(`the tool names no argument "${oneLine(name, 100)}"${hint}`)
  }
}

function shown({ content, structured, isError, raw }: ToolAnswer, invocation: Invocation): number {
  const { input, terminal } = invocation
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

function hint(
  name: string,
  tools: readonly Tool[],
  missing: ReadonlyMap<string, string>,
  terminal: Terminal,
): void {
  const names = tools.map(tool => oneLine(tool.name, 128))
  const lists = names.length === 0 ? 'no tools' : `no tool "${name}"`
  // With a server missing, the tool is more likely to be there than another one to be meant.
  const meant = missing.size > 0 ? '' : didYouMean(name, names)
  const has = names.length === 0 ? '' : `; it has ${oneLine(names.join(', '), 500)}`
  terminal.note(`the server lists ${lists}${meant || has}`)
  if (missing.size === 0) return
  const gone = Array.from(missing, ([server, reason]) => `${server} (${reason})`).join(', ')
  terminal.note(`of the servers behind it, not there are: ${oneLine(gone, 500)}`)
}
