import type { Client } from '../../client/client.ts'
import { type ConnectOptions, connect } from '../../connect.ts'
import { revisionNamed, revisions } from '../../mcp/revisions/revisions.ts'
import { errorWords } from '../../util/error-words.ts'
import type { FramingName } from '../../wire/frame.ts'
import { timeOf } from '../arguments.ts'
import { asked, UsageError } from '../exit.ts'
import { elicitation } from '../input/prompts.ts'
import type { Invocation } from '../invocation.ts'
import { harmless, oneLine } from '../terminal.ts'
import { lookUpServers } from './config-servers.ts'
import { resolveTarget, type Target } from './target.ts'
import { traced } from './wire-log.ts'

/** A client for the server that the command line means, and what else stands there. */
export interface Opened {
  readonly client: Client
  readonly operands: readonly string[]
}

/**
 * Connects to the server that the command line means, does something with the client, and closes it.
 * What the server asks is asked of the person at the terminal, or declined where there is none.
 */
export async function withTarget<T>(
  invocation: Invocation,
  use: (opened: Opened) => Promise<T>,
): Promise<T> {
  const { target, operands } = await resolveTarget(invocation.input, lookUpServers)
  const options = { ...optionsOf(invocation, target), elicit: elicitation(invocation) }
  const client = await asked(() => connect(target.where, options))
  try {
    return await use({ client, operands })
  } finally {
    await client.close()
  }
}

/** What the options of the command line mean for a connection. */
export function optionsOf(invocation: Invocation, { headers }: Target): ConnectOptions {
  const { input, terminal, signal } = invocation
  const isVerbose = input.has('verbose')
  const timeout = input.value('timeout')
  const timeoutMs = timeout === undefined ? undefined : timeOf('timeout', timeout)
  const revisions = input.values('revision')
  const complain = (error: unknown): void => {
    terminal.note(oneLine(errorWords(error), 500))
  }
  return {
    name: 'trunkline-cli',
    signal,
    headers,
    timeoutMs,
    // The time that was asked for is meant for a server that starts slowly, too.
    handshakeMs: timeoutMs,
    probeMs: timeoutMs === undefined ? undefined : Math.min(timeoutMs, probeMostMs),
    // The check: the parser lets no other value through.
    era: input.value('era') as ConnectOptions['era'],
    framing: input.value('framing') as FramingName | undefined,
    revisions: revisions.length === 0 ? undefined : known(revisions),
    restart: false,
    onError: complain,
    onJunk: ({ detail }) =>
      terminal.note(`the program prints what is no JSON on stdout: ${oneLine(detail, 200)}`),
    onLog: ({ level, logger, data }) => {
      const words = typeof data === 'string' ? data : JSON.stringify(data)
      terminal.note(oneLine(`[${level}]${logger ? ` ${logger}:` : ''} ${words}`, 2000))
    },
    ...(isVerbose && {
      onStderr: text => terminal.note(harmless(text.replace(/\n$/, ''))),
      onChannel: channel => traced(channel, line => terminal.note(terminal.tint(line, 'dim'))),
    }),
  }
}

/** How long the question which era a server speaks waits at most. */
const probeMostMs = 3000

function known(names: readonly string[]): readonly string[] {
  const unknown = names.find(name => revisionNamed(name) === undefined)
  if (unknown === undefined) return names
  const all = revisions.map(({ name }) => name).join(', ')
  throw new UsageError(`--revision is the date of a revision, not "${unknown}"; there are ${all}`)
}
