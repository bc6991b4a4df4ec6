import { isLoopback } from '../../util/origin.ts'
import type { Probe } from './context.ts'
import { type Finding, fail, none, ok, warn } from './finding.ts'
import { askHttp, type HttpAnswer } from './http-wire.ts'
import { clientInfo, Talk } from './session.ts'

/** How the server behaves as a server of HTTP: statuses, media types, and whom it lets in. */
export async function door(probe: Probe): Promise<readonly Finding[]> {
  if (probe.where.kind !== 'http') return [none('the server is not reached over HTTP')]
  const answered = await knock(probe)
  if (answered.verdict === 'fail') {
    probe.blocked = 'the HTTP endpoint does not answer as one of MCP'
    return [answered]
  }
  return [answered, ...(await guards(probe, probe.where.url))]
}

/** Asks in both eras, and judges the better answer. */
async function knock(probe: Probe): Promise<Finding> {
  let judged: Finding | undefined
  for (const era of ['session', 'stateless'] as const) {
    const revision = probe.wanted(era)
    const wire = revision && probe.openHttp()
    if (revision === undefined || wire === undefined) continue
    const talk = new Talk(wire, revision, probe.timeoutMs)
    const reply = await (era === 'session'
      ? talk.ask('initialize', initializeParams(revision.name))
      : talk.ask('server/discover'))
    const answer = wire.latest
    const finding =
      answer === undefined
        ? fail(
            reply.type === 'gone' ? reply.why : `no answer to a POST within ${probe.timeoutMs} ms`,
            'The server takes the connection and does not answer. Look at its log, or give it more time with --timeout.',
          )
        : await judge(answer, reply.type === 'result' || reply.type === 'error', probe)
    if (finding.verdict === 'ok') return finding
    judged ??= finding
  }
  return judged ?? none('no era is left to speak')
}

/** The params of `initialize`. */
export function initializeParams(protocolVersion: string): object {
  return { protocolVersion, capabilities: {}, clientInfo }
}

const mediaTypes = ['application/json', 'text/event-stream']

async function judge(answer: HttpAnswer, isMessage: boolean, probe: Probe): Promise<Finding> {
  const { status, mediaType, headers } = answer
  const saw = `POST was answered ${status}, ${mediaType === '' ? 'without a media type' : mediaType}`
  if (status === 401 || status === 403) {
    return fail(saw, 'The server wants to know who asks. Give --header "Authorization: Bearer …".')
  }
  if (status >= 300 && status < 400) {
    return fail(`${saw}, to ${headers.location ?? 'nowhere'}`, 'Use the address it leads to.')
  }
  if (status >= 500) {
    return fail(
      saw,
      'The server failed. Its log says why; a request it cannot serve gets an error of JSON-RPC, not a 5xx.',
    )
  }
  if (isMessage && mediaTypes.includes(mediaType)) return ok(saw)
  if (isMessage || (status >= 200 && status < 300)) {
    return fail(
      saw,
      `Answers to a POST are ${mediaTypes.join(' or ')}; set the header Content-Type to what the body is.`,
    )
  }
  if (await isOldPair(probe)) {
    return fail(
      `${saw}; a GET gives the event stream of the oldest transport`,
      'The server speaks only HTTP+SSE of the first revision, which is deprecated. "list" and "call" can talk to it; move it to Streamable HTTP.',
    )
  }
  return fail(saw, 'There is no MCP endpoint at this path. Most servers have it at /mcp.')
}

/** Whether a GET gives the event `endpoint`, with which the oldest transport begins. */
async function isOldPair(probe: Probe): Promise<boolean> {
  if (probe.where.kind !== 'http') return false
  let isFound = false
  const headers = { accept: 'text/event-stream', ...probe.headers }
  const onEvent = (_: string, event: string): boolean => {
    isFound = event === 'endpoint'
    return true
  }
  const { url } = probe.where
  await askHttp({ method: 'GET', url, headers, timeoutMs: probe.timeoutMs, onEvent }).catch(
    () => {},
  )
  return isFound
}

const foreign = 'evil.example'

/** Whether web pages and forged names are kept out, which matters where the server is on this machine. */
async function guards(probe: Probe, url: URL): Promise<readonly Finding[]> {
  if (!isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) {
    return [
      none(
        'Origin and Host are judged only on this machine; behind a name they are a matter of setup',
      ),
    ]
  }
  const findings: Finding[] = []
  const origin = await statusWith(probe, { origin: `http://${foreign}` })
  findings.push(
    isServed(origin)
      ? fail(
          `a request from the web page http://${foreign} is served (${origin})`,
          'Refuse requests with an Origin that is not allowed, with 403: any web page could talk to this server.',
        )
      : ok(`a request from a foreign web page is refused (${origin})`),
  )
  const host = await statusWith(probe, { host: foreign })
  findings.push(
    isServed(host)
      ? warn(
          `a request for the host ${foreign} is served (${host})`,
          'Refuse requests whose Host is not this server, against DNS rebinding.',
        )
      : ok(`a request for a foreign host is refused (${host})`),
  )
  const plain = await statusWith(probe, { 'content-type': 'text/plain' })
  findings.push(
    isServed(plain)
      ? warn(
          `a body that says it is text/plain is served (${plain})`,
          'Refuse what is not application/json with 415: web pages may send text/plain without asking.',
        )
      : ok(`a body that is no JSON by its media type is refused (${plain})`),
  )
  return findings
}

function isServed(status: number): boolean {
  return status >= 200 && status < 300
}

async function statusWith(probe: Probe, odd: Readonly<Record<string, string>>): Promise<number> {
  const revision = probe.wanted('session') ?? probe.wanted('stateless')
  const wire = probe.openHttp(odd)
  if (revision === undefined || wire === undefined) return 0
  const talk = new Talk(wire, revision, probe.timeoutMs)
  await (revision.era === 'session'
    ? talk.ask('initialize', initializeParams(revision.name))
    : talk.ask('server/discover'))
  return wire.latest?.status ?? 0
}
