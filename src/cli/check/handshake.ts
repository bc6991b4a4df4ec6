import { revisionNamed, revisions } from '../../mcp/revisions/revisions.ts'
import { isRecord, stringsIn } from '../../util/objects.ts'
import { oneLine } from '../terminal.ts'
import { type CheckContext, type EraState, members } from './context.ts'
import { type Finding, fail, hint, notApplicable, ok, warn } from './finding.ts'
import { initializeParams } from './http-rules.ts'
import { type CheckReply, type CheckSession, replyText } from './session.ts'
import type { MessageObject } from './wire/wire.ts'

/** Step `handshake`: opens a session in each era, with `initialize` and with `server/discover`. */
export async function handshake(context: CheckContext): Promise<readonly Finding[]> {
  const session = await initialize(context)
  // One after the other, because two downloads of the same program at once disturb each other.
  const stateless = await discover(context)
  // A program that ends without any request ends with this one too, which says nothing new.
  const hasEnded = session?.hasEnded === true && stateless?.hasEnded === true
  const attempts = (hasEnded ? [session] : [session, stateless]).filter(one => one !== undefined)
  for (const { state } of attempts) if (state !== undefined) context.eras.push(state)
  const findings = attempts.map(({ finding }) => finding)
  if (context.eras.length > 0)
    return [...findings, ...attempts.flatMap(({ state }) => identityFindings(state))]
  context.blocked = 'the handshake failed'
  // Only a failure in both eras is a failure: a server may support just one.
  return findings.map(finding =>
    finding.status === 'fail' ? finding : fail(finding.message, finding.advice ?? handshakeAdvice),
  )
}

const handshakeAdvice =
  'The server must answer "initialize", or "server/discover" in the stateless revisions. Check that it is an MCP server.'

interface HandshakeAttempt {
  readonly finding: Finding
  /** Whether the connection was closed instead of an answer. */
  readonly hasEnded?: boolean
  readonly state?: EraState
}

async function initialize(context: CheckContext): Promise<HandshakeAttempt | undefined> {
  const revision = context.revisionFor('session')
  if (revision === undefined) return undefined
  const session = await context.openSession(revision)
  const reply = await session.request('initialize', initializeParams(revision.name))
  const result = reply.type === 'result' ? members(reply.result) : undefined
  // After the first request has timed out, the second one gets less time.
  if (reply.type === 'timeout') context.startMs = context.timeoutMs
  if (result === undefined)
    return { finding: initializeFailure(reply), hasEnded: reply.type === 'closed' }
  const problem = initializeProblem(result)
  const state = eraStateOf(session, result, result.serverInfo)
  if (typeof result.protocolVersion === 'string') {
    session.agreed = revisionNamed(result.protocolVersion)
    await session.notify('notifications/initialized')
  }
  if (problem === undefined) return { state, finding: ok(`initialize: ${describe(state)}`) }
  const advice =
    'Answer "initialize" with protocolVersion, capabilities and serverInfo { name, version }.'
  return { state, finding: fail(`the result of initialize ${problem}`, advice) }
}

async function discover(context: CheckContext): Promise<HandshakeAttempt | undefined> {
  const revision = context.revisionFor('stateless')
  if (revision === undefined) return undefined
  let session: CheckSession
  try {
    session = await context.openSession(revision)
  } catch (error) {
    // The first connection succeeded: this server accepts only one.
    return {
      finding: notApplicable(
        `a second connection fails: ${error instanceof Error ? error.message : error}`,
      ),
    }
  }
  const reply = await session.request('server/discover')
  if (reply.type !== 'result') {
    if (reply.type === 'closed') {
      return {
        hasEnded: true,
        finding: warn(
          `server/discover, which newer clients send first, stops the server: ${reply.reason}`,
          'Reject unknown methods with error -32601, even before "initialize".',
        ),
      }
    }
    return { finding: notApplicable(`the stateless era is not supported: got ${replyText(reply)}`) }
  }
  const result = members(reply.result)
  const supported = stringsIn(result.supportedVersions)
  if (supported === undefined || !isRecord(result.capabilities)) {
    return {
      finding: fail(
        `server/discover: got ${replyText(reply)}`,
        'Answer "server/discover" with supportedVersions and capabilities, or reject it with error -32601.',
      ),
    }
  }
  const meta = members(result._meta)
  const state = eraStateOf(
    session,
    result,
    meta['io.modelcontextprotocol/serverInfo'] ?? result.serverInfo,
  )
  return { state, finding: ok(`server/discover: ${describe(state)}`) }
}

function eraStateOf(session: CheckSession, result: MessageObject, info: unknown): EraState {
  const description = { ...result, serverInfo: members(info) }
  return { session, description, capabilities: members(result.capabilities), lists: new Map() }
}

function describe({ description, session }: EraState): string {
  const { name, version } = members(description.serverInfo)
  const identity = `${oneLine(String(name ?? 'unnamed server'), 100)} ${oneLine(String(version ?? ''), 40)}`
  const revision = session.era === 'session' ? description.protocolVersion : session.revision.name
  return `${identity.trim()}, revision ${oneLine(String(revision), 40)}`
}

function initializeFailure(reply: CheckReply): Finding {
  if (reply.type === 'closed') {
    return fail(
      `no response to initialize: ${reply.reason}`,
      'The server stops before it responds. Start it by hand with the same arguments and environment, and read its output.',
    )
  }
  if (reply.type === 'timeout') {
    return fail(
      `no response to initialize within ${reply.ms} ms`,
      'The server must answer "initialize". If it starts slowly, give it more time with --timeout. Responses must be written to stdout, one per line.',
    )
  }
  // Not a failure yet: the server may support only the stateless era.
  return notApplicable(`initialize: got ${replyText(reply)}`)
}

function initializeProblem(result: MessageObject): string | undefined {
  if (typeof result.protocolVersion !== 'string') return 'has no protocolVersion'
  if (!isRecord(result.capabilities)) return 'has no capabilities'
  if (!isRecord(result.serverInfo)) return 'has no serverInfo'
  const { name, version } = result.serverInfo
  if (typeof name !== 'string') return 'has a serverInfo without a name'
  return typeof version === 'string' ? undefined : 'has a serverInfo without a version'
}

/** Warns if `server/discover` does not identify the server. */
function identityFindings(state: EraState | undefined): readonly Finding[] {
  if (state === undefined || state.session.era === 'session') return []
  const { name } = members(state.description.serverInfo)
  if (typeof name === 'string') return []
  const advice =
    'Identify the server: _meta["io.modelcontextprotocol/serverInfo"] = { name, version }.'
  return [warn('server/discover does not identify the server', advice)]
}

/** A version that was never a protocol revision. */
const unknownVersion = '1999-01-01'

/** Step `revision`: checks the version negotiation of each era. */
export async function revision(context: CheckContext): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    context.eras.map(state =>
      state.session.era === 'session' ? sessionRevision(context, state) : statelessRevision(state),
    ),
  )
  return findings.flat()
}

async function sessionRevision(
  context: CheckContext,
  { session, description }: EraState,
): Promise<Finding[]> {
  const agreed = String(description.protocolVersion)
  const found = revisionNamed(agreed)
  const names = revisions.filter(({ era }) => era === 'session').map(({ name }) => name)
  const findings: Finding[] = []
  if (found?.era !== 'session') {
    const advice = `"protocolVersion" must be one of ${names.join(', ')}.`
    findings.push(
      fail(
        `requested ${session.revision.name}, but the server chose "${oneLine(agreed, 40)}"`,
        advice,
      ),
    )
  } else if (found !== session.revision) {
    const advice = `Clients cannot use features newer than ${agreed}. Update the MCP library of the server.`
    findings.push(
      hint(`requested ${session.revision.name}, and the server chose ${agreed}`, advice),
    )
  } else findings.push(ok(`revision ${agreed} is supported`))
  const other = await context.openSession(session.revision)
  const reply = await other.request('initialize', initializeParams(unknownVersion))
  findings.push(unknownVersionFinding(reply))
  await other.wire.close()
  return findings
}

function unknownVersionFinding(reply: CheckReply): Finding {
  const advice =
    'Answer an unknown version with the newest supported one; never echo the requested version.'
  if (reply.type === 'error') {
    const message = `unknown version ${unknownVersion} requested: got ${replyText(reply)}`
    return warn(message, advice)
  }
  if (reply.type !== 'result')
    return fail(`unknown version ${unknownVersion} requested: got ${replyText(reply)}`, advice)
  const { protocolVersion } = members(reply.result)
  if (typeof protocolVersion === 'string' && revisionNamed(protocolVersion) !== undefined) {
    return ok(`unknown version requested: the server offers ${protocolVersion}`)
  }
  return fail(
    `unknown version ${unknownVersion} requested: the server agrees to "${oneLine(String(protocolVersion), 40)}"`,
    advice,
  )
}

async function statelessRevision({ session, description }: EraState): Promise<Finding[]> {
  const supported = stringsIn(description.supportedVersions) ?? []
  const findings: Finding[] = []
  if (supported.includes(session.revision.name))
    findings.push(ok(`revision ${session.revision.name} is supported`))
  else {
    const advice = `List every supported stateless revision, such as ${session.revision.name}.`
    findings.push(
      fail(`supportedVersions is ${oneLine(supported.join(', ') || 'empty', 100)}`, advice),
    )
  }
  const reply = await session.request('server/discover', {}, { version: unknownVersion })
  const isNamed = reply.type === 'error' && stringsIn(members(reply.data).supported) !== undefined
  if (reply.type === 'error' && reply.code === -32022 && isNamed) {
    findings.push(ok('an unknown version is rejected with -32022 and the supported versions'))
  } else {
    const advice =
      'Reject an unsupported version with error -32022 and data { supported, requested }.'
    const message = `unknown version ${unknownVersion} requested: got ${replyText(reply)}`
    findings.push(reply.type === 'error' ? warn(message, advice) : fail(message, advice))
  }
  return findings
}
