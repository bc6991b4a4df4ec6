import type { Client } from '../../client/client.ts'
import { type ConnectOptions, connect } from '../../connect.ts'
import {
  isRevisionName,
  type RevisionName,
  unknownRevision,
} from '../../mcp/revisions/revisions.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { printable } from '../../util/text/printable.ts'
import type { FramingName } from '../../wire/frame.ts'
import { parseDuration } from '../arguments.ts'
import { UsageError, withUsageErrors } from '../exit.ts'
import { elicitHandlers } from '../input/prompts.ts'
import type { Invocation } from '../invocation.ts'
import { oneLine } from '../terminal.ts'
import { authOf } from './authorization.ts'
import { lookUpServers } from './config-servers.ts'
import { type CommandTarget, resolveTarget } from './target.ts'
import { withWireLog } from './wire-log.ts'

/** A client of the target, and the remaining operands. */
export interface ConnectedTarget {
  readonly client: Client
  readonly operands: readonly string[]
}

/**
 * Connects to the target of the command line, calls `use` with the client, and closes it. Elicitation requests of
 * the server are shown to the user, or declined without a terminal.
 */
export async function withTarget<T>(
  invocation: Invocation,
  use: (opened: ConnectedTarget) => Promise<T>,
): Promise<T> {
  const { target, operands } = await resolveTarget(invocation.input, lookUpServers)
  const options = {
    ...connectOptionsOf(invocation, target),
    auth: await authOf(target, invocation.input),
    elicit: elicitHandlers(invocation),
  }
  const client = await withUsageErrors(() => connect(target.where, options))
  try {
    return await use({ client, operands })
  } finally {
    await client.close()
  }
}

/** Converts command-line options to options of `connect`. */
export function connectOptionsOf(
  invocation: Invocation,
  { headers }: CommandTarget,
): ConnectOptions {
  const { input, terminal, signal } = invocation
  const isVerbose = input.has('verbose')
  const timeout = input.value('timeout')
  const timeoutMs = timeout === undefined ? undefined : parseDuration('timeout', timeout)
  const revisions = input.values('revision')
  const noteError = (error: unknown): void => {
    terminal.note(oneLine(errorMessage(error), 500))
  }
  return {
    name: 'trunkline-cli',
    signal,
    headers,
    timeoutMs,
    // --timeout is also meant for a server that starts slowly.
    handshakeMs: timeoutMs,
    discoverTimeoutMs: timeoutMs === undefined ? undefined : Math.min(timeoutMs, maxDiscoverMs),
    // The check: the parser accepts no other values.
    era: input.value('era') as ConnectOptions['era'],
    framing: input.value('framing') as FramingName | undefined,
    revisions: revisions.length === 0 ? undefined : checkedRevisions(revisions),
    reconnect: false,
    onError: noteError,
    onJunk: ({ detail }) =>
      terminal.note(`the server printed invalid JSON on stdout: ${oneLine(detail, 200)}`),
    onLog: ({ level, logger, data }) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      terminal.note(oneLine(`[${level}]${logger ? ` ${logger}:` : ''} ${text}`, 2000))
    },
    ...(isVerbose && {
      onStderr: text => terminal.note(printable(text.replace(/\n$/, ''))),
      onChannel: channel =>
        withWireLog(channel, line => terminal.note(terminal.styleStderr(line, 'dim'))),
    }),
  }
}

/** Maximum time to wait for the response to `server/discover`. */
const maxDiscoverMs = 3000

function checkedRevisions(names: readonly string[]): readonly RevisionName[] {
  return names.map(name => {
    if (isRevisionName(name)) return name
    throw new UsageError(`--revision: ${unknownRevision(name).message}`)
  })
}
