import { ChannelError } from '../../jsonrpc/channel.ts'
import { deferred } from '../../util/deferred.ts'
import type { IncomingEvent } from '../../wire/sse.ts'
import type { Leash } from './cancel-scope.ts'
import type { Line } from './endpoint.ts'
import { refusal } from './errors.ts'
import { follow, isEventStream } from './event-stream.ts'
import type { Answer } from './transport/http-client.ts'

/** What the event stream of the oldest revision tells. */
export interface PairHost {
  readonly leash: Leash
  /** One event that is a message. */
  event(event: IncomingEvent): void | Promise<void>
  /** The stream has ended, and with it the connection. */
  onEnded(cause: unknown): void
}

/**
 * Opens the event stream of a server that speaks the oldest revision over HTTP, and waits until it has
 * named where messages go: first thing, and of the same origin. Rejects with a ChannelError otherwise.
 */
export async function openPair(line: Line, host: PairHost): Promise<URL> {
  const { settings, url } = line
  const what = `GET ${url.href}`
  const { leash } = host
  const answer = await line.get('', leash.next())
  if (!isEventStream(answer)) {
    answer.drop()
    throw refusal(what, answer, 'no event stream')
  }
  const named = deferred<URL>()
  const late = () => named.reject(new ChannelError('timeout', `${what}: no endpoint in time`))
  const timer = settings.clock.start(late, settings.acceptMs)
  let isNamed = false
  const event = (one: IncomingEvent): void | Promise<void> => {
    if (isNamed) return host.event(one)
    if (one.event !== 'endpoint') return undefined
    const endpoint = endpointOf(one.data, url)
    if (typeof endpoint === 'string') {
      named.reject(new ChannelError('refused', `${what}: ${endpoint}`))
      return undefined
    }
    isNamed = true
    named.resolve(endpoint)
  }
  const ended = (cause: unknown) => {
    named.reject(new ChannelError('refused', `${what}: the event stream names no endpoint`))
    if (isNamed) host.onEnded(cause)
  }
  follow(
    {
      leash,
      first: answer,
      resumes: 'never',
      open: () => neverAgain,
      event,
      isOver: () => false,
    },
    settings,
  ).then(end => ended(end.type === 'lost' ? end.cause : undefined), ended)
  try {
    return await named.promise
  } catch (error) {
    leash.drop(error)
    throw error
  } finally {
    settings.clock.stop(timer)
  }
}

const neverAgain = new Promise<Answer>(() => {})

/** Where messages go, or in words why they must not. */
function endpointOf(data: string, url: URL): URL | string {
  let endpoint: URL
  try {
    endpoint = new URL(data, url)
  } catch {
    return 'the endpoint it names is no address'
  }
  if (endpoint.origin !== url.origin) return `the endpoint it names is at ${endpoint.origin}`
  if (endpoint.username !== '' || endpoint.password !== '') {
    return 'the endpoint it names holds a password'
  }
  return endpoint
}
