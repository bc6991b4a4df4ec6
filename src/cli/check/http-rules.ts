import { errorBodyOf } from '../../http/client/transport/error-body.ts'
import { decodeRules } from '../../jsonrpc/codec/decode-rules.ts'
import { isLoopback } from '../../util/origin.ts'
import type { CheckContext } from './context.ts'
import { type Finding, fail, notApplicable, ok, warn } from './finding.ts'
import { type CheckReply, CheckSession, clientInfo } from './session.ts'
import { type RawResponse, sendHttp } from './wire/http-wire.ts'

/** Step `http`: checks status codes, media types, and whether requests of other origins are rejected. */
export async function httpRules(context: CheckContext): Promise<readonly Finding[]> {
  const { endpoint } = context
  if (endpoint === undefined) return [notApplicable('the server is not reached over HTTP')]
  const posted = await postFinding(context)
  if (posted.status === 'fail') {
    context.blocked = 'the HTTP endpoint does not speak MCP'
    return [posted]
  }
  return [posted, ...(await originFindings(context, endpoint))]
}

/** Sends a POST in each era, and returns the better finding. */
async function postFinding(context: CheckContext): Promise<Finding> {
  let first: Finding | undefined
  for (const era of ['session', 'stateless'] as const) {
    const revision = context.revisionFor(era)
    const wire = revision && context.openHttp()
    if (revision === undefined || wire === undefined) continue
    const session = new CheckSession(wire, revision, context.timeoutMs)
    const reply = await (era === 'session'
      ? session.request('initialize', initializeParams(revision.name))
      : session.request('server/discover'))
    const response = wire.latest
    const finding =
      response === undefined
        ? fail(
            reply.type === 'closed'
              ? reply.reason
              : `no response to a POST within ${context.timeoutMs} ms`,
            'The server accepts the connection but does not respond. Read its log, or give it more time with --timeout.',
          )
        : await responseFinding(response, isOfMcp(reply, response), context)
    if (finding.status === 'ok') return finding
    first ??= finding
  }
  return first ?? notApplicable('the options exclude every era')
}

/** Whether a reply comes from an MCP server, and not just from a server that answers in JSON. */
function isOfMcp(reply: CheckReply, { status }: RawResponse): boolean {
  // A stateless server answers an unknown method with 404; any other 404 means that the path is wrong.
  if (status === 404) return reply.type === 'error' && reply.code === -32601
  return reply.type === 'result' || reply.type === 'error'
}

/** Builds the params of `initialize`. */
export function initializeParams(protocolVersion: string): object {
  return { protocolVersion, capabilities: {}, clientInfo }
}

const mediaTypes = ['application/json', 'text/event-stream']

async function responseFinding(
  response: RawResponse,
  isMessage: boolean,
  context: CheckContext,
): Promise<Finding> {
  const { status, mediaType, headers } = response
  const words = status >= 300 ? bodyWords(response) : undefined
  const returned = `POST returned ${status}, ${mediaType === '' ? 'no media type' : mediaType}`
  const message = words === undefined ? returned : `${returned}: ${words}`
  // A 403 is about credentials only if the server says so; else it is about Host, Origin or the network.
  if (status === 401 || (status === 403 && headers['www-authenticate'] !== undefined)) {
    return fail(
      message,
      'The server requires authorization. Run "trunkline login URL", or pass --header "Authorization: Bearer …".',
    )
  }
  if (status === 403) {
    return fail(
      message,
      'The server refuses this request. It may accept another host name in the address (localhost, 127.0.0.1), or other networks only.',
    )
  }
  if (status >= 300 && status < 400) {
    return fail(
      `${message}, redirecting to ${headers.location ?? 'nowhere'}`,
      'Use the address of the redirect.',
    )
  }
  if (status >= 500) {
    return fail(
      message,
      'The server failed; its log says why. Answer a request that cannot be handled with a JSON-RPC error, not with a 5xx status.',
    )
  }
  if (isMessage && mediaTypes.includes(mediaType)) return ok(message)
  if (isMessage || (status >= 200 && status < 300)) {
    return fail(
      message,
      `A response to POST must be ${mediaTypes.join(' or ')}; set Content-Type to match the body.`,
    )
  }
  if (await hasHttpSse(context)) {
    context.isHttpSse = true
    return warn(
      `${message}; GET returns an HTTP+SSE event stream`,
      'The server supports only the HTTP+SSE transport, which is deprecated. Move it to Streamable HTTP.',
    )
  }
  return fail(message, 'There is no MCP endpoint at this path. Most servers use /mcp.')
}

/** Returns what the body of a rejection says, in one line. */
function bodyWords({ text, mediaType }: RawResponse): string | undefined {
  return errorBodyOf(Buffer.from(text), mediaType, decodeRules({})).words
}

/** Whether GET returns the event `endpoint`, which starts an HTTP+SSE session. */
async function hasHttpSse(context: CheckContext): Promise<boolean> {
  const { endpoint: url } = context
  if (url === undefined) return false
  let isFound = false
  const headers = { accept: 'text/event-stream', ...context.headers }
  const onEvent = (_: string, event: string): boolean => {
    isFound = event === 'endpoint'
    return true
  }
  await sendHttp({ method: 'GET', url, headers, timeoutMs: context.timeoutMs, onEvent }).catch(
    () => {},
  )
  return isFound
}

const foreignHost = 'evil.example'

/** Checks that requests of foreign web pages and forged host names are rejected, if the server is on this machine. */
async function originFindings(context: CheckContext, url: URL): Promise<readonly Finding[]> {
  if (!isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) {
    return [
      notApplicable(
        'Origin and Host are checked only for loopback addresses; elsewhere they depend on the deployment',
      ),
    ]
  }
  const findings: Finding[] = []
  const statusWith = context.isHttpSse ? eventsWith : postWith
  const origin = await statusWith(context, { origin: `http://${foreignHost}` })
  findings.push(
    isAccepted(origin)
      ? fail(
          `a request with the Origin http://${foreignHost} is accepted (${origin})`,
          'Reject requests with a disallowed Origin with 403: otherwise any web page can call this server.',
        )
      : ok(`a request with a foreign Origin is rejected (${origin})`),
  )
  const host = await statusWith(context, { host: foreignHost })
  findings.push(
    isAccepted(host)
      ? warn(
          `a request with the Host ${foreignHost} is accepted (${host})`,
          'Reject requests with a foreign Host header, to prevent DNS rebinding.',
        )
      : ok(`a request with a foreign Host is rejected (${host})`),
  )
  if (context.isHttpSse) return findings
  const plain = await statusWith(context, { 'content-type': 'text/plain' })
  findings.push(
    isAccepted(plain)
      ? warn(
          `a request with the media type text/plain is accepted (${plain})`,
          'Reject any media type but application/json with 415: web pages can send text/plain without a preflight request.',
        )
      : ok(`a request with the media type text/plain is rejected (${plain})`),
  )
  return findings
}

function isAccepted(status: number): boolean {
  return status >= 200 && status < 300
}

/** Returns the status of a request for the event stream of HTTP+SSE. */
async function eventsWith(
  { endpoint: url, headers: own, timeoutMs }: CheckContext,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  if (url === undefined) return 0
  const all = { accept: 'text/event-stream', ...own, ...headers }
  const request = { method: 'GET', url, headers: all, timeoutMs, onEvent: () => true }
  const response = await sendHttp(request).catch(() => undefined)
  return response?.status ?? 0
}

/** Returns the status of a POST. */
async function postWith(
  context: CheckContext,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const revision = context.revisionFor('session') ?? context.revisionFor('stateless')
  const wire = context.openHttp(headers)
  if (revision === undefined || wire === undefined) return 0
  const session = new CheckSession(wire, revision, context.timeoutMs)
  await (revision.era === 'session'
    ? session.request('initialize', initializeParams(revision.name))
    : session.request('server/discover'))
  return wire.latest?.status ?? 0
}
