import type { Client } from '../../client/client.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { ToolAnswer } from '../../mcp/content/tool-answer.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { didYouMean } from '../../util/nearest.ts'
import { isRecord } from '../../util/objects.ts'
import type { CommandLine } from '../arguments.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { collectUnavailable, contentText } from '../formats.ts'
import { argumentsOf } from '../input/tool-arguments.ts'
import type { Invocation, Run } from '../invocation.ts'
import { optionsOf } from '../manual/manual.ts'
import { suggestName } from '../suggest.ts'
import { withTarget } from '../target/connect.ts'
import { oneLine, type Terminal } from '../terminal.ts'

/** `trunkline call`: calls a tool and prints its result. */
export const run: Run = async invocation => {
  const { input, terminal, signal, stdin } = invocation
  return withTarget(invocation, async ({ client, operands }) => {
    const [name, ...rest] = operands
    if (name === undefined) throw new UsageError('missing tool name')
    const unavailable = new Map<string, string>()
    const tools = await toolsOf(client, signal, unavailable)
    const tool = tools.find(each => each.name === name)
    const given = { operands: rest, args: input.value('args'), stdin }
    const args = await argumentsOf(given, tool?.inputSchema)
    if (tool !== undefined) {
      checkFlags(input, tool)
      noteUnknownArguments(args, tool.inputSchema, terminal)
    }
    const bar = terminal.progress(oneLine(name, 40))
    try {
      const answer = await client.call(name, args, {
        signal,
        onProgress: ({ progress, total, message = '' }) => {
          const text =
            total === undefined ? `${progress} ${message}` : `${progress}/${total} ${message}`
          bar.update(total === undefined ? undefined : progress / total, text)
        },
      })
      bar.end()
      return showAnswer(answer, invocation)
    } catch (error) {
      bar.end()
      // For any other error, a missing list entry explains nothing.
      const isUnknown = error instanceof RpcError && error.kind === 'tool_not_found'
      if (isUnknown && tool === undefined)
        noteUnknownTool(name, { tools, unavailable, isVerbose: input.has('verbose') }, terminal)
      throw error
    }
  })
}

async function toolsOf(
  client: Client,
  signal: AbortSignal,
  unavailable: Map<string, string>,
): Promise<readonly Tool[]> {
  const tools: Tool[] = []
  if (client.server.capabilities.tools === undefined) return tools
  const onMeta = (meta: Members): void => collectUnavailable(meta, unavailable)
  for await (const tool of client.tools({ signal, onMeta })) tools.push(tool)
  return tools
}

/** Throws a UsageError for a flag that the tool's schema does not define: it may be a misspelled option of ours. */
function checkFlags({ flags, command }: CommandLine, { name, inputSchema }: Tool): void {
  const { properties } = isRecord(inputSchema) ? inputSchema : {}
  const known = isRecord(properties) ? Object.keys(properties) : []
  for (const flag of flags) {
    if (known.includes(flag)) continue
    const options = optionsOf(command).map(option => option.name)
    const meant = didYouMean(flag, [...known, ...options])
    const taken = known.length === 0 ? 'it takes none' : `its arguments are ${known.join(', ')}`
    throw new UsageError(
      `neither "trunkline call" nor the tool "${oneLine(name, 100)}" has --${flag}${meant || `; ${taken}`}`,
    )
  }
}

/** Notes arguments that the tool's schema does not define, because most tools silently ignore them. */
function noteUnknownArguments(args: object, schema: unknown, terminal: Terminal): void {
  if (!isRecord(schema) || !isRecord(schema.properties)) return
  const names = Object.keys(schema.properties)
  for (const name of Object.keys(args)) {
    if (names.length === 0 || names.includes(name)) continue
    const hint = didYouMean(name, names) || `; its arguments are ${oneLine(names.join(', '), 300)}`
    terminal.note(`the tool has no argument "${oneLine(name, 100)}"${hint}`)
  }
}

function showAnswer(
  { content, structured, isError, raw }: ToolAnswer,
  invocation: Invocation,
): number {
  const { input, terminal } = invocation
  const exitCode = isError ? exitCodes.failed : exitCodes.ok
  if (input.has('json')) {
    terminal.json(raw)
    return exitCode
  }
  const text = content.map(block => contentText(block, terminal.isInteractive)).join('\n')
  if (isError) {
    terminal.error(`${terminal.styleStderr('tool error:', 'red', 'bold')} ${text}`)
    return exitCode
  }
  if (text !== '') terminal.write(`${text}\n`)
  if (structured !== undefined && !repeatsStructured(structured, text)) {
    if (text !== '') terminal.line()
    terminal.json(structured)
  }
  return exitCode
}

/** Whether the text content repeats the structured content as JSON, which the protocol asks servers to do. */
function repeatsStructured(structured: unknown, text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(structured)
  } catch {
    return false
  }
}

/** What a server has said about its tools. */
interface KnownTools {
  readonly tools: readonly Tool[]
  readonly unavailable: ReadonlyMap<string, string>
  /** Whether to name all tools. */
  readonly isVerbose: boolean
}

function noteUnknownTool(
  name: string,
  { tools, unavailable, isVerbose }: KnownTools,
  terminal: Terminal,
): void {
  const names = tools.map(tool => oneLine(tool.name, 128))
  const lists = names.length === 0 ? 'no tools' : `no tool "${name}"`
  // If a server is unavailable, the tool is probably one of its tools, not a misspelled name.
  const suggestion = unavailable.size > 0 ? '' : suggestName(name, names)
  const count =
    names.length === 0 ? '' : `; it has ${names.length} tools, "trunkline list" shows them`
  terminal.note(`the server lists ${lists}${suggestion || count}`)
  if (isVerbose && names.length > 0) terminal.note(`its tools are ${names.join(', ')}`)
  if (unavailable.size === 0) return
  const list = Array.from(unavailable, ([server, reason]) => `${server} (${reason})`).join(', ')
  terminal.note(`unavailable upstream servers: ${oneLine(list, 500)}`)
}
