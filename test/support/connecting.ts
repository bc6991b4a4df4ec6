import { grantPagesOf } from '../../src/auth/connect/grant-pages.ts'
import {
  authenticator,
  bearer,
  type ConnectPagesOptions,
  connectPages,
  userGrants,
} from '../../src/auth/index.ts'
import { type ConnectOptions, connect, listen, type RevisionName, Server } from '../../src/index.ts'
import type { AuditSink } from '../../src/observe/index.ts'
import { Router } from '../../src/router/router.ts'
import { devIssuer } from '../../src/testing/index.ts'
import { embedding, type HandlerKind } from './embedding.ts'

/** A browser: it keeps the cookies of one origin, and follows no redirects by itself. */
export class Browser {
  readonly cookies = new Map<string, string>()

  async open(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const cookie = Array.from(this.cookies, pair => pair.join('=')).join('; ')
    const headers = { ...(cookie !== '' && { cookie }), ...init.headers }
    const response = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.cookies.set(name, value)
    }
    return response
  }

  /** Sends the form of a page, as a browser does that reveals no referrer. */
  async submit(url: string | URL, page: string, init: RequestInit = {}): Promise<Response> {
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page) ?? []
    const body = new URLSearchParams({ csrf })
    const headers = { origin: 'null', 'sec-fetch-site': 'same-origin', ...init.headers }
    return this.open(url, { method: 'POST', body, ...init, headers })
  }
}

export type Connecting = Awaited<ReturnType<typeof connecting>>

/** Returns the link in the text of a tool error. */
export function linkOf(text: string): string {
  return /http\S+$/.exec(text)?.[0] ?? 'none:'
}

/** Returns where a response leads. */
export function locationOf(response: Response): URL {
  return new URL(response.headers.get('location') ?? 'none:')
}

export interface ConnectingOptions extends Omit<ConnectPagesOptions, 'login'> {
  /** Whether browsers log in at the authorization server of the callers. */
  readonly hasLogin?: boolean
  readonly revisions?: readonly RevisionName[]
  readonly audit?: AuditSink
  /** Serves the router by a handler in an HTTP server of the program, instead of by `listen`. */
  readonly handler?: HandlerKind
}

/**
 * Starts a router in front of a server with an authorization server of its own, where callers have to grant access. Its
 * callers are known to another authorization server.
 */
export async function connecting({
  hasLogin,
  revisions,
  audit,
  handler,
  ...options
}: ConnectingOptions = {}) {
  const users = [{ sub: 'ada' }, { sub: 'bob' }]
  const client = { clientId: 'router-login', clientSecret: 'hush-hush-hush' }
  const redirectUris: string[] = []
  const front = await devIssuer({ users, clients: [{ ...client, redirectUris }] })
  const back = await devIssuer({ users })
  const server = new Server({ name: 'notes', version: '1.0.0' }, { revisions })
  server.tool('list', {}, (_, { caller }) => `the notes of ${caller.principal?.subject}`)
  server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
  server.prompt('hello', {}, () => 'hello')
  const upstream = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { verify: back.verifier(), scopes: ['notes:read'] },
  })
  const login = { issuer: front.issuer, ...client }
  const errors: unknown[] = []
  const start = async (chosen: ConnectPagesOptions, address: string) => {
    const embedded = handler && (await embedding(handler))
    const url = embedded && { url: `${embedded.origin}/connect` }
    const pages = connectPages({ ...url, ...chosen, ...(hasLogin && { login }) })
    const auth = userGrants({ pages, name: 'notes' })
    const router = new Router({
      servers: { notes: { url: upstream.address, auth } },
      audit,
      onError: error => void errors.push(error),
    })
    const verify = front.verifier()
    const listener =
      embedded === undefined
        ? await listen(router, address, { auth: { verify }, pages })
        : { address: `${embedded.origin}/mcp`, close: embedded.close }
    embedded?.serve(router, {
      path: '/mcp',
      auth: authenticator({ resource: listener.address, verify }),
      pages,
    })
    const close = async () => {
      await listener.close()
      await router.close()
    }
    return { vault: grantPagesOf(pages).vault, close, address: listener.address }
  }
  let running = await start(options, 'http://127.0.0.1:0/mcp')
  const { address } = running
  redirectUris.push(new URL('/connect/login', address).href)
  return {
    front,
    back,
    /** The address of the server behind the router. */
    upstream: upstream.address,
    errors,
    get vault() {
      return running.vault
    },
    /** Stops the router, and starts another one at the same address. */
    restart: async (chosen: ConnectPagesOptions) => {
      await running.close()
      running = await start(chosen, address)
    },
    /** Connects as a caller, who visits pages as `visit` does. */
    caller: async (
      sub: string,
      revision: RevisionName,
      visit?: (url: string) => Promise<'accept' | 'decline'>,
      options: ConnectOptions = {},
    ) =>
      connect(address, {
        ...options,
        auth: bearer(await front.token({ sub, audience: address })),
        revisions: [revision],
        ...(visit && { elicit: { url: async ({ url }) => ({ action: await visit(url) }) } }),
      }),
    /** Does what a user does on the pages; resolves to the last page. */
    visit: async (url: string, sub: string, browser = new Browser()): Promise<Response> => {
      let at = new URL(url)
      let page = await browser.open(at)
      if (hasLogin) {
        at = await front.browser(sub)(locationOf(page))
        page = await browser.open(at)
      }
      if (page.status !== 200) return page
      const approved = await browser.submit(url, await page.text())
      if (approved.status !== 303) return approved
      return browser.open(await back.browser(sub)(locationOf(approved)))
    },
    [Symbol.asyncDispose]: async () => {
      await running.close()
      await upstream.close()
      await server.close()
      await front.close()
      await back.close()
    },
  }
}
