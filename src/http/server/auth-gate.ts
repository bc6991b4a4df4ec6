import type { Batch, Message } from '../../jsonrpc/message.ts'
import type {
  Authentication,
  Authenticator,
  AuthHeaders,
  AuthRefusal,
  PublicDocument,
} from '../../mcp/authenticator.ts'
import type { EventStream, HttpReply, HttpRequest, ReplyHeaders } from '../exchange.ts'
import { nothingServed, refuse, refuseAuth } from './responses.ts'

/** What a gate needs from its service. */
export interface AuthGateHost {
  /** Whether something is served at the path of a request. */
  serves(request: HttpRequest): boolean
  /** Serves a request whose caller is known. */
  route(request: HttpRequest, reply: HttpReply): void
  /** The path that is served, for the refusal of other paths. */
  readonly path: string
}

/**
 * Authenticates the caller of every request before its body is read, and publishes the documents that
 * clients need to get a token.
 */
export class AuthGate {
  readonly #auth: Authenticator
  readonly #host: AuthGateHost

  constructor(auth: Authenticator, host: AuthGateHost) {
    this.#auth = auth
    this.#host = host
  }

  enter(request: HttpRequest, reply: HttpReply): void {
    const document = this.#auth.document(request.path)
    if (document !== undefined) {
      respondDocument(request, reply, document)
      return
    }
    if (!this.#host.serves(request)) {
      refuse(reply, nothingServed(request, this.#host.path))
      return
    }
    const outcome = this.#auth.authenticate(request)
    if (outcome instanceof Promise) {
      void outcome.then(later => {
        if (!reply.isFinished) this.#admit(later, request, reply)
      })
    } else {
      this.#admit(outcome, request, reply)
    }
  }

  #admit(outcome: Authentication, request: HttpRequest, reply: HttpReply): void {
    if (outcome.status !== undefined) {
      refuseAuth(reply, outcome)
      return
    }
    const { principal, headers } = outcome
    request.principal = principal
    request.hiddenHeaders = this.#auth.credentialHeaders ?? []
    // Of a POST the calls in flight may finish.
    const watched = request.method === 'GET' ? principal : undefined
    this.#host.route(
      request,
      new GuardedReply(reply, headers, watched && (end => this.#auth.onAccessEnd(watched, end))),
    )
  }
}

/** Returns why a caller may not send a message, or one of a batch; undefined where it may. */
export function unauthorized(
  auth: Authenticator,
  arrival: Message | Batch,
  { principal, path }: HttpRequest,
): AuthRefusal | undefined {
  const messages = arrival.type === 'batch' ? arrival.entries : [arrival]
  for (const message of messages) {
    if (message.type !== 'request' && message.type !== 'notification') continue
    const denied = auth.authorize(message.method, principal, path)
    if (denied !== undefined) return denied
  }
  return undefined
}

/** Responds with a public document. */
function respondDocument(request: HttpRequest, reply: HttpReply, document: PublicDocument): void {
  const { headers, body } = document
  switch (request.method) {
    case 'GET':
      reply.send(200, headers, body)
      break
    case 'HEAD':
      reply.send(200, headers)
      break
    default:
      reply.send(405, { allow: 'GET, HEAD, OPTIONS' })
  }
}

/** Responses behind authentication belong to one caller. */
const personal: ReplyHeaders = { 'cache-control': 'no-store', vary: 'authorization, origin' }

/** The last headers that were made personal: nearly all responses have the same, and writers recognize the object. */
let latest = { given: personal, all: personal }

function personalHeaders(given: ReplyHeaders, more: AuthHeaders | undefined): ReplyHeaders {
  if (more !== undefined) return { ...personal, ...more, ...given }
  if (latest.given !== given) latest = { given, all: { ...personal, ...given } }
  return latest.all
}

/**
 * A response to an authenticated caller: it is never cached, and an event stream ends when the token of the
 * caller expires or is withdrawn, as if the client had disconnected, so that the client can resume it with a new token.
 */
class GuardedReply implements HttpReply {
  readonly #reply: HttpReply
  readonly #headers: AuthHeaders | undefined
  /** Calls its argument when the stream has to end, and returns what cancels that. */
  readonly #watch: ((end: () => void) => () => void) | undefined
  #onDisconnect: (() => void)[] = []
  #hasEnded = false

  constructor(
    reply: HttpReply,
    headers: AuthHeaders | undefined,
    watch: ((end: () => void) => () => void) | undefined,
  ) {
    this.#reply = reply
    this.#headers = headers
    this.#watch = watch
  }

  get isFinished(): boolean {
    return this.#hasEnded || this.#reply.isFinished
  }

  send(status: number, headers: ReplyHeaders, body?: string): void {
    this.#reply.send(status, personalHeaders(headers, this.#headers), body)
  }

  stream(headers: ReplyHeaders): EventStream {
    const stream = this.#reply.stream(personalHeaders(headers, this.#headers))
    if (this.#watch === undefined) return stream
    const end = (): void => {
      this.#hasEnded = true
      stream.end()
      for (const listener of this.#onDisconnect) listener()
    }
    const stop = this.#watch(end)
    this.#reply.onDisconnect(stop)
    return {
      write: text => (this.#hasEnded ? undefined : stream.write(text)),
      end: () => {
        stop()
        stream.end()
      },
    }
  }

  onDisconnect(listener: () => void): void {
    if (this.#watch !== undefined) this.#onDisconnect.push(listener)
    this.#reply.onDisconnect(listener)
  }
}
