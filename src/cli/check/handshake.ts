import { revisionNamed, revisions } from '../../mcp/revisions/revisions.ts'
import { isRecord, stringsIn } from '../../util/record.ts'
import { oneLine } from '../terminal.ts'
import { type Known, members, type Probe } from './context.ts'
import { type Finding, fail, none, ok, warn } from './finding.ts'
import { initializeParams } from './http-rules.ts'
import { type Reply, replyText, type Talk } from './session.ts'
import type { Heard } from './wire.ts'

/** Whether a conversation can be begun, in either era. */
export async function handshake(probe: Probe): Promise<readonly Finding[]> {
  const [session, stateless] = await Promise.all([initialize(probe), discover(probe)])
  const begun = [session, stateless].filter(one => one !== undefined)
  for (const { known } of begun) if (known !== undefined) probe.known.push(known)
  const findings = begun.map(({ finding }) => finding)
  if (probe.known.length > 0) return [...findings, ...begun.flatMap(({ known }) => remarks(known))]
  probe.blocked = 'no conversation can be begun'
  // Only together do they fail: a server needs to speak but one era.
  return findings.map(finding =>
    finding.verdict === 'fail' ? finding : fail(finding.saw, finding.advice ?? speakAdvice),
  )
}

const speakAdvice =
  'The server must answer "initialize", or "server/discover" in the stateless revisions. Check that it is an MCP server.'

interface Begun {
  readonly finding: Finding
  readonly known?: Known
}

async function initialize(probe: Probe): Promise<Begun | undefined> {
  const revision = probe.wanted('session')
  if (revision === undefined) return undefined
  const talk = await probe.talk(revision)
  const reply = await talk.ask('initialize', initializeParams(revision.name))
  const result = reply.type === 'result' ? members(reply.result) : undefined
  if (result === undefined) return { finding: unanswered('initialize', reply) }
  const problem = initializeProblem(result)
  const known = knownOf(talk, result, result.serverInfo)
  if (typeof result.protocolVersion === 'string') {
    talk.agreed = revisionNamed(result.protocolVersion)
    await talk.tell('notifications/initialized')
  }
  if (problem === undefined) return { known, finding: ok(`initialize: ${describe(known)}`) }
  const advice =
    'Answer "initialize" with protocolVersion, capabilities and serverInfo { name, version }.'
  return { known, finding: fail(`the result of initialize ${problem}`, advice) }
}

async function discover(probe: Probe): Promise<Begun | undefined> {
  const revision = probe.wanted('stateless')
  if (revision === undefined) return undefined
  let talk: Talk
  try {
    talk = await probe.talk(revision)
  } catch (error) {
    // The first one could be started: this server does not live twice.
    return {
      finding: none(`a second connection fails: ${error instanceof Error ? error.message : error}`),
    }
  }
  const reply = await talk.ask('server/discover')
  if (reply.type !== 'result') {
    if (reply.type === 'gone') {
      return {
        finding: warn(
          `server/discover, which newer clients ask first, ends the server: ${reply.why}`,
          'Answer methods that are unknown with the error -32601, also before "initialize".',
        ),
      }
    }
    return { finding: none(`the server does not speak the stateless era: ${replyText(reply)}`) }
  }
  const result = members(reply.result)
  const supported = stringsIn(result.supportedVersions)
  if (supported === undefined || !isRecord(result.capabilities)) {
    return {
      finding: fail(
        `server/discover gives ${replyText(reply)}`,
        'Answer "server/discover" with supportedVersions and capabilities, or with the error -32601.',
      ),
    }
  }
  const meta = members(result._meta)
  const known = knownOf(
    talk,
    result,
    meta['io.modelcontextprotocol/serverInfo'] ?? result.serverInfo,
  )
  return { known, finding: ok(`server/discover: ${describe(known)}`) }
}

function knownOf(talk: Talk, result: Heard, info: unknown): Known {
  const description = { ...result, serverInfo: members(info) }
  return { talk, description, capabilities: members(result.capabilities), lists: new Map() }
}

function describe({ description, talk }: Known): string {
  const { name, version } = members(description.serverInfo)
  const said = `${oneLine(String(name ?? 'a server without a name'), 100)} ${oneLine(String(version ?? ''), 40)}`
  const revision = talk.era === 'session' ? description.protocolVersion : talk.revision.name
  return `${said.trim()}, revision ${oneLine(String(revision), 40)}`
}

function unanswered(method: string, reply: Reply): Finding {
  if (reply.type === 'gone') {
    return fail(
      `${method} is not answered: ${reply.why}`,
      'The server ends before it answers. Start it by hand with the same arguments and environment, and read what it says.',
    )
  }
  if (reply.type === 'silence') {
    return fail(
      `${method} is not answered within ${reply.ms} ms`,
      'The server must answer "initialize". If it only starts slowly, give it more time with --timeout; if it prints its answers elsewhere, they belong on stdout, one per line.',
    )
  }
  // No failure by itself: a server may speak the stateless era alone.
  return none(`${method} is answered with ${replyText(reply)}`)
}

function initializeProblem(result: Heard): string | undefined {
  if (typeof result.protocolVersion !== 'string') return 'has no protocolVersion'
  if (!isRecord(result.capabilities)) return 'has no capabilities'
  if (!isRecord(result.serverInfo)) return 'has no serverInfo'
  const { name, version } = result.serverInfo
  if (typeof name !== 'string') return 'has a serverInfo without a name'
  return typeof version === 'string' ? undefined : 'has a serverInfo without a version'
}

/** What could be better about what a server says of itself. */
function remarks(known: Known | undefined): readonly Finding[] {
  if (known === undefined || known.talk.era === 'session') return []
  const { name } = members(known.description.serverInfo)
  if (typeof name === 'string') return []
  const advice = 'Say who answers: _meta["io.modelcontextprotocol/serverInfo"] = { name, version }.'
  return [warn('server/discover does not say which server it is', advice)]
}

/** A version that no revision ever had. */
const unknownVersion = '1999-01-01'

/** Whether versions are negotiated as they should be. */
export async function revision(probe: Probe): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    probe.known.map(known =>
      known.talk.era === 'session' ? sessionRevision(probe, known) : statelessRevision(known),
    ),
  )
  return findings.flat()
}

async function sessionRevision(probe: Probe, { talk, description }: Known): Promise<Finding[]> {
  const agreed = String(description.protocolVersion)
  const found = revisionNamed(agreed)
  const names = revisions.filter(({ era }) => era === 'session').map(({ name }) => name)
  const findings: Finding[] = []
  if (found?.era !== 'session') {
    const advice = `"protocolVersion" of the answer is one of ${names.join(', ')}.`
    findings.push(
      fail(`${talk.revision.name} was asked for, and "${oneLine(agreed, 40)}" agreed on`, advice),
    )
  } else if (found !== talk.revision) {
    const advice = `Clients lose what came after ${agreed}. Update the library that the server is made with.`
    findings.push(warn(`${talk.revision.name} was asked for, and ${agreed} agreed on`, advice))
  } else findings.push(ok(`revision ${agreed} is spoken`))
  const other = await probe.talk(talk.revision)
  const reply = await other.ask('initialize', initializeParams(unknownVersion))
  findings.push(negotiated(reply))
  await other.wire.close()
  return findings
}

function negotiated(reply: Reply): Finding {
  const advice =
    'Answer a version that is not known with the newest one that is; never repeat what was asked.'
  if (reply.type === 'error') {
    const saw = `asked for version ${unknownVersion}, it answers ${replyText(reply)}`
    return warn(saw, advice)
  }
  if (reply.type !== 'result')
    return fail(`asked for an unknown version, it gives ${replyText(reply)}`, advice)
  const { protocolVersion } = members(reply.result)
  if (typeof protocolVersion === 'string' && revisionNamed(protocolVersion) !== undefined) {
    return ok(`asked for an unknown version, it offers ${protocolVersion}`)
  }
  return fail(
    `asked for version ${unknownVersion}, it agrees on "${oneLine(String(protocolVersion), 40)}"`,
    advice,
  )
}

async function statelessRevision({ talk, description }: Known): Promise<Finding[]> {
  const supported = stringsIn(description.supportedVersions) ?? []
  const findings: Finding[] = []
  if (supported.includes(talk.revision.name))
    findings.push(ok(`revision ${talk.revision.name} is spoken`))
  else {
    const advice = `List every stateless revision that is served, such as ${talk.revision.name}.`
    findings.push(
      fail(`supportedVersions is ${oneLine(supported.join(', ') || 'empty', 100)}`, advice),
    )
  }
  const reply = await talk.ask('server/discover', {}, { version: unknownVersion })
  const isNamed = reply.type === 'error' && stringsIn(members(reply.data).supported) !== undefined
  if (reply.type === 'error' && reply.code === -32022 && isNamed) {
    findings.push(ok('an unknown version is refused with -32022 and those there are'))
  } else {
    const advice =
      'Refuse a version that is not served with the error -32022 and data { supported, requested }.'
    const saw = `an unknown version is answered with ${replyText(reply)}`
    findings.push(reply.type === 'error' ? warn(saw, advice) : fail(saw, advice))
  }
  return findings
}
