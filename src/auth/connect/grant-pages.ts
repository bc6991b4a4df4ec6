import type { Principal } from '../../jsonrpc/channel.ts'
import type { AuthorizationEvent } from '../../mcp/callers/authorization-event.ts'
import type { GrantPage } from '../../mcp/callers/caller-credentials.ts'
import type {
  ConnectPages,
  PageRequest,
  PageResponse,
  ServedPages,
} from '../../mcp/callers/connect-pages.ts'
import { createSealer, type Sealer } from '../../util/crypto/seal.ts'
import { limits } from '../../util/limits/limits.ts'
import { AuthError, authErrorText } from '../auth-error.ts'
import { type BeginOptions, begin, finish } from '../client/login/login.ts'
import { isEqualSecret, randomText } from '../client/protocol/encoding.ts'
import type { PendingLogin } from '../client/protocol/login-flow.ts'
import { memoryStore } from '../client/store/memory-store.ts'
import { BrowserLogin, type PendingBrowserLogin } from './browser-login.ts'
import { Cookies } from './cookies.ts'
import { Flows } from './flows.ts'
import { connectedPage, consentPage, redirectTo, refusalPage } from './html.ts'
import { grantEvent, loginEvent } from './page-events.ts'
import { foreignReason, formOf, isOwnMachine } from './page-request.ts'
import type { ConnectPagesOptions } from './pages-options.ts'
import { type GrantTicket, type TicketProblem, Tickets } from './tickets.ts'
import { Vault } from './vault.ts'

/** What a server needs of its users. */
export interface GrantServer {
  /** The name of the server, as users know it. */
  readonly name: string
  /** How the router logs in for a user there. */
  readonly options: Omit<BeginOptions, 'redirect' | 'store'>
  /** Reports logins and grants of its users. */
  report(event: AuthorizationEvent): void
}

/** A user who has approved, and now logs in at the authorization server of the server. */
interface Approval {
  readonly ticket: GrantTicket
  readonly pending: PendingLogin
  /** The value of the cookie of the browser that has approved. */
  readonly secret: string
}

/** A user who logs in at the authorization server of the callers. */
interface Arrival {
  readonly ticketText: string
  readonly browser: string
  readonly pending: PendingBrowserLogin
}

/** Answers requests for the pages, and makes links to them. */
export class GrantPages implements ServedPages {
  /** What users have granted. */
  readonly vault: Vault
  readonly #options: ConnectPagesOptions
  readonly #ticketMs: number
  readonly #sealer: Sealer
  readonly #tickets: Tickets
  readonly #login: BrowserLogin | undefined
  readonly #arrivals: Flows<Arrival>
  readonly #approvals: Flows<Approval>
  /** The servers that tickets were made for, by name and address. */
  readonly #servers = new Map<string, GrantServer>()
  #base: URL | undefined
  #cookies = new Cookies(new URL('https://localhost'))

  constructor(options: ConnectPagesOptions) {
    this.#options = options
    this.#ticketMs = options.ticketMs ?? limits.ticketMs.default
    this.#sealer = createSealer({ ...(options.keys && { keys: options.keys }) })
    this.#tickets = new Tickets(this.#sealer, this.#ticketMs)
    this.#login = options.login && new BrowserLogin(options.login)
    this.#arrivals = new Flows(this.#ticketMs)
    this.#approvals = new Flows(this.#ticketMs)
    this.vault = new Vault(options.store ?? memoryStore(), this.#sealer)
  }

  get url(): string | undefined {
    return this.#base?.href
  }

  bind(address: string | undefined, verifiers: readonly string[]): void {
    const { url } = this.#options
    if (address === undefined && (url === undefined || this.#login === undefined))
      throw new TypeError(
        'the pages need "url" and "login", because a handler does not know its address and who can reach it; pass them to connectPages()',
      )
    const base = new URL(url ?? new URL('/connect', address))
    if (verifiers.includes('key'))
      throw new TypeError(
        'callers with API keys cannot grant access by a page, because a browser cannot log in as one of them; use tokens of an authorization server instead of apiKeys',
      )
    const isLocal = isOwnMachine(base) && isOwnMachine(new URL(address ?? base))
    if (this.#login === undefined && !isLocal)
      throw new TypeError(
        `other machines reach the pages at ${base.href}: they need "login" to know whose browser visits them`,
      )
    if (base.protocol !== 'https:' && !isOwnMachine(base))
      throw new TypeError(`the pages need an https: URL, not ${base.href}`)
    // The first of several addresses is the one in links.
    this.#base ??= base
    this.#cookies = new Cookies(this.#base)
  }

  /** Makes the page on which a principal allows the router to act for it at a server. Rejects with an AuthError. */
  async pageFor(
    principal: Principal,
    to: GrantServer,
    asked: Pick<GrantTicket, 'server' | 'grantedBy' | 'scopes'>,
  ): Promise<GrantPage> {
    const { name } = to
    if (this.#base === undefined)
      throw new AuthError(
        'unsupported',
        'nothing serves the pages: pass "pages" to listen(), nodeHandler() or fetchHandler()',
      )
    if (this.#login !== undefined && !(principal.issuer && principal.subject))
      throw new AuthError('unsupported', 'a browser cannot log in as this caller')
    const elicitationId = crypto.randomUUID()
    this.#servers.set(serverKey({ name, ...asked }), to)
    const ticket = await this.#tickets.seal(principal, { name, elicitationId, ...asked })
    const { host } = new URL(asked.grantedBy)
    return {
      message: `Connect your account at "${name}": log in at ${host}, so that this call can be made for you.`,
      url: `${this.#base.href}/${ticket}`,
      elicitationId,
    }
  }

  handles({ path }: Pick<PageRequest, 'path'>): boolean {
    return this.#base !== undefined && path.startsWith(`${this.#base.pathname}/`)
  }

  async respond(request: PageRequest): Promise<PageResponse> {
    const base = this.#base
    if (base === undefined || !this.handles(request))
      return refusalPage(404, 'There is no such page.')
    const foreign = foreignReason(request, base)
    if (foreign !== undefined) return refusalPage(403, `Refused: ${foreign}.`)
    const name = request.path.slice(base.pathname.length + 1)
    try {
      if (request.method === 'GET' && name === 'login') return await this.#loggedIn(request, base)
      if (request.method === 'GET' && name === 'callback') return await this.#granted(request, base)
      if (request.method === 'GET') return await this.#visited(base, name)
      if (request.method === 'POST') return await this.#approved(request, base, name)
      return { ...refusalPage(405, 'This page can only be read.'), status: 405 }
    } catch (error) {
      const why = authErrorText(error)
      return refusalPage(502, `The login failed: ${why}. Call the tool again to get a new link.`)
    }
  }

  /** A browser opens a link: it logs in, or sees what it is asked to approve. */
  async #visited(base: URL, ticketText: string): Promise<PageResponse> {
    const ticket = await this.#tickets.open(ticketText)
    if (typeof ticket === 'string') return refusedTicket(ticket)
    const browser = randomText()
    const cookie = this.#cookies.set('page', browser, this.#ticketMs)
    if (this.#login === undefined) return this.#consent(ticket, ticketText, browser, base, cookie)
    const { url, pending } = await this.#login.begin(`${base.href}/login`)
    this.#arrivals.add(pending.state, { ticketText, browser, pending })
    return redirectTo(url, cookie)
  }

  /** A browser returns from its login: it must be that of the principal of the ticket. */
  async #loggedIn(request: PageRequest, base: URL): Promise<PageResponse> {
    const query = new URLSearchParams(request.query)
    const arrival = this.#arrivals.take(query.get('state') ?? '')
    if (arrival === undefined || this.#login === undefined) return usedLink()
    const { ticketText, browser, pending } = arrival
    const ticket = await this.#tickets.open(ticketText)
    if (typeof ticket === 'string') return refusedTicket(ticket)
    const report = (reason?: string): void =>
      this.#servers.get(serverKey(ticket))?.report(loginEvent(ticket, reason))
    if (!this.#cookies.has(request.header('cookie'), 'page', browser)) {
      report('another browser returned from the login')
      return otherBrowser()
    }
    const user = await this.#login.finish(pending, query).catch(error => {
      report(authErrorText(error))
      throw error
    })
    if (user.issuer !== ticket.issuer || user.subject !== ticket.subject) {
      report(`the browser belongs to ${user.subject} of ${user.issuer}`)
      return refusalPage(
        403,
        'This link was made for another user. If somebody has sent it to you, they may want to use your account: do not continue.',
      )
    }
    report()
    return this.#consent(ticket, ticketText, browser, base, {})
  }

  async #consent(
    ticket: GrantTicket,
    ticketText: string,
    browser: string,
    base: URL,
    headers: Readonly<Record<string, string>>,
  ): Promise<PageResponse> {
    const csrf = await this.#sealer.seal(browser, csrfOf(ticket), { ttlMs: this.#ticketMs })
    return consentPage(ticket, `${base.pathname}/${ticketText}`, csrf, headers)
  }

  /** A user approves: only now the browser gets the cookie without which it cannot return. */
  async #approved(request: PageRequest, base: URL, ticketText: string): Promise<PageResponse> {
    const ticket = await this.#tickets.open(ticketText)
    if (typeof ticket === 'string') return refusedTicket(ticket)
    const form = await formOf(request, limits.connectFormBytes.default)
    if (form === undefined) return refusalPage(413, 'The form is invalid or too large.')
    // Only a page that was shown after the browser was identified has this value, and it names that browser.
    const shown = await this.#sealer.open(form.get('csrf') ?? '', csrfOf(ticket))
    if (!shown.ok || typeof shown.value !== 'string')
      return refusalPage(403, 'The form is not ours.')
    if (!this.#cookies.has(request.header('cookie'), 'page', shown.value)) return otherBrowser()
    const server = this.#servers.get(serverKey(ticket))
    if (server === undefined || !this.#tickets.use(ticket)) return usedLink()
    try {
      const { url, pending } = await begin(ticket.server, this.#beginOptions(ticket, server, base))
      const secret = randomText()
      this.#approvals.add(pending.state, { ticket, pending, secret })
      return redirectTo(url, this.#cookies.set('connect', secret, this.#ticketMs))
    } catch (error) {
      this.#tickets.release(ticket)
      server.report(grantEvent(ticket, authErrorText(error)))
      throw error
    }
  }

  /** A browser returns from the authorization server of the server: it must be the one that has approved. */
  async #granted(request: PageRequest, base: URL): Promise<PageResponse> {
    const state = new URLSearchParams(request.query).get('state') ?? ''
    const approval = this.#approvals.take(state)
    if (approval === undefined) return usedLink()
    const { ticket, pending, secret } = approval
    const server = this.#servers.get(serverKey(ticket))
    if (server === undefined || !isEqualSecret(state, pending.state)) return usedLink()
    if (!this.#cookies.has(request.header('cookie'), 'connect', secret)) {
      server.report(grantEvent(ticket, 'another browser returned from the authorization server'))
      return otherBrowser()
    }
    const callback = new URL(`${base.href}/callback?${request.query}`)
    try {
      await finish(pending, callback, this.#beginOptions(ticket, server, base))
    } catch (error) {
      server.report(grantEvent(ticket, authErrorText(error)))
      throw error
    }
    server.report(grantEvent(ticket))
    return connectedPage(ticket)
  }

  /** Exactly what the user has seen is asked for, where the user has seen it. */
  #beginOptions(
    { principal, grantedBy, scopes }: GrantTicket,
    { options }: GrantServer,
    base: URL,
  ): BeginOptions {
    return {
      ...options,
      issuer: grantedBy,
      scopes,
      scopesAllowed: scopes,
      store: this.vault.of(principal),
      redirect: `${base.href}/callback`,
    }
  }
}

/** Returns the implementation of pages. Throws a TypeError for an object that `connectPages` has not made. */
export function grantPagesOf(pages: ConnectPages): GrantPages {
  if (pages instanceof GrantPages) return pages
  throw new TypeError('pages: expected the result of connectPages()')
}

/** Identifies the server of a ticket. */
function serverKey({ name, server }: Pick<GrantTicket, 'name' | 'server'>): string {
  return `${name} ${server}`
}

/** Binds the value in a form to its ticket. */
function csrfOf({ nonce }: GrantTicket) {
  return { purpose: 'connect', method: 'csrf', params: { nonce } } as const
}

function refusedTicket(problem: TicketProblem): PageResponse {
  if (problem === 'invalid') return refusalPage(404, 'There is no such page.')
  return refusalPage(
    410,
    `This link has ${problem === 'used' ? 'been used' : 'expired'}. Call the tool again to get a new one.`,
  )
}

function usedLink(): PageResponse {
  return refusalPage(
    403,
    'This step was done before, or too late. Call the tool again to get a new link.',
  )
}

function otherBrowser(): PageResponse {
  return refusalPage(403, 'Another browser has begun this. Open the link in this browser again.')
}
