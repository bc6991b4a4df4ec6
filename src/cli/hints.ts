import { HttpStatusError } from '../http/client/errors.ts'
import { ChannelError } from '../jsonrpc/channel.ts'
import { RpcError } from '../jsonrpc/error.ts'
import { isRecord } from '../util/objects.ts'
import { type AuthorizationFailure, authorizationFailure, UsageError } from './exit.ts'
import { commandNamed } from './manual/manual.ts'
import { oneLine } from './terminal.ts'

/** Returns what to do about a failure, or its details; undefined if the message is enough. */
export function hintFor(error: unknown, command = ''): string | undefined {
  // An invalid configuration file needs no hint: its message has the position.
  if (error instanceof UsageError) {
    if (error.message.includes('"trunkline help')) return undefined
    const isPage = command !== 'help' && commandNamed(command) !== undefined
    const page = isPage ? `help ${command}` : 'help'
    return `run "trunkline ${page}" for help`
  }
  if (error instanceof RpcError) {
    const isInternal = error.code === -32603 && error.data === undefined
    return isInternal
      ? 'the log of the server says why; --verbose shows the stderr of a program'
      : errorDataText(error)
  }
  const refusal = authorizationFailure(error)
  if (refusal !== undefined) return refusal.needsLogin ? loginHint(refusal) : undefined
  if (!(error instanceof ChannelError)) return undefined
  if (error.code === 'timeout') return 'to wait longer, use --timeout, such as --timeout 2m'
  return statusHint(error.cause) ?? connectionHints.find(([at]) => at.test(error.message))?.[1]
}

/** Formats the error data of a server, without `kind`, which repeats the code, and without what the message says. */
function errorDataText({ data, message }: RpcError): string | undefined {
  if (!isRecord(data)) return undefined
  const unsaid = Object.entries(data).filter(
    ([name, value]) => name !== 'kind' && !(typeof value === 'string' && message.includes(value)),
  )
  const rest = Object.fromEntries(unsaid)
  return Object.keys(rest).length === 0 ? undefined : oneLine(JSON.stringify(rest), 500)
}

function loginHint({ server = 'URL' }: AuthorizationFailure): string {
  return `the server requires authorization: run "trunkline login ${server}", or pass --header "Authorization: Bearer …"`
}

/** Returns what to do about an HTTP status. */
function statusHint(cause: unknown): string | undefined {
  if (!(cause instanceof HttpStatusError)) return undefined
  const { status } = cause
  if ((status === 404 || status === 405) && !cause.message.includes('did you mean'))
    return 'there is no MCP endpoint at this path: most servers use /mcp'
  return undefined
}

/** Hints for connection errors, by pattern of the message. */
const connectionHints: readonly (readonly [RegExp, string])[] = [
  [
    /ECONNREFUSED|ENOENT|no such file/,
    'nothing is listening there: is the server running, and does it use this port or path?',
  ],
  [
    /exited with code 0$/,
    'the program ended instead of serving: it has to call serve(server), or be started with "trunkline serve FILE"',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'the host name cannot be resolved: check its spelling and the network'],
  [
    /(?:http|ws):.*(?:the connection closed before|socket hang up|ECONNRESET)/,
    'the server closed the connection without an answer: does it require TLS (https:, wss:)?',
  ],
  [/Parse Error: Expected HTTP|a line without a carriage return/, 'the server does not speak HTTP'],
]
