import { ChannelError } from '../../jsonrpc/channel.ts'
import { deferred } from '../../util/promises.ts'
import { addressText } from '../../util/text/address-text.ts'
import type { IncomingEvent } from '../../wire/sse.ts'
import type { CancelScope } from './cancel-scope.ts'
import type { HttpEndpoint } from './endpoint.ts'
import { statusError } from './errors.ts'
import { follow, isEventStream } from './event-stream.ts'
import type { HttpResponse } from './transport/http-client.ts'

/** What the event stream of the HTTP+SSE transport reports to. */
export interface HttpSseHost {
  readonly scope: CancelScope
  /** Called with each event after the first, `endpoint`. */
  event(event: IncomingEvent): void | Promise<void>
  /** Called when the stream has ended, and the connection with it. */
  onEnded(cause: unknown): void
}

/**
 * Opens the event stream of the HTTP+SSE transport and resolves to the URL for messages, which its
 * first event names and which must have the same origin. Rejects with a ChannelError otherwise.
 */
export async function openHttpSse(endpoint: HttpEndpoint, host: HttpSseHost): Promise<URL> {
  const { settings, url } = endpoint
  const what = `GET ${addressText(url)}`
  const { scope } = host
  const response = await endpoint.get('', scope.next())
  if (!isEventStream(response)) {
    response.discard()
    throw statusError(what, response, 'no event stream')
  }
  const named = deferred<URL>()
  const late = () => named.reject(new ChannelError('timeout', `${what}: no endpoint in time`))
  const timer = settings.clock.start(late, settings.acceptTimeoutMs)
  let isNamed = false
  const event = (one: IncomingEvent): void | Promise<void> => {
    if (isNamed) return host.event(one)
    if (one.event !== 'endpoint') return undefined
    const messagesUrl = endpointOf(one.data, url)
    if (typeof messagesUrl === 'string') {
      named.reject(new ChannelError('refused', `${what}: ${messagesUrl}`))
      return undefined
    }
    isNamed = true
    named.resolve(messagesUrl)
  }
  const ended = (cause: unknown) => {
    named.reject(new ChannelError('refused', `${what}: the event stream names no endpoint`))
    if (isNamed) host.onEnded(cause)
  }
  follow(
    {
      scope,
      first: response,
      resumes: 'never',
      open: () => neverAgain,
      event,
      isComplete: () => false,
    },
    settings,
  ).then(end => ended(end.type === 'lost' ? end.cause : undefined), ended)
  try {
    return await named.promise
  } catch (error) {
    scope.abortCurrent(error)
    throw error
  } finally {
    settings.clock.stop(timer)
  }
}

const neverAgain = new Promise<HttpResponse>(() => {})

/** Returns the URL for messages, or why it cannot be used. */
function endpointOf(data: string, url: URL): URL | string {
  let messagesUrl: URL
  try {
    messagesUrl = new URL(data, url)
  } catch {
    return 'the endpoint it names is not a URL'
  }
  if (messagesUrl.origin !== url.origin) return `the endpoint it names is at ${messagesUrl.origin}`
  if (messagesUrl.username !== '' || messagesUrl.password !== '') {
    return 'the endpoint it names contains a password'
  }
  return messagesUrl
}
