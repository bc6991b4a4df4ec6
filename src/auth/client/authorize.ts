import { abortable } from '../../util/promises.ts'
import { AuthError } from '../auth-error.ts'
import type { GuardedNetwork } from '../network/guarded-network.ts'
import type { RedirectListener } from './login/redirect.ts'
import type { OAuthSettings, OpenPage } from './options.ts'
import type { Discovery } from './protocol/discovery.ts'
import { DpopKey, type ReceivedNonces } from './protocol/dpop.ts'
import { randomText } from './protocol/encoding.ts'
import { endLogin, isCallbackOf, startLogin } from './protocol/login-flow.ts'
import { registeredClient } from './protocol/registration.ts'
import { readRegistration, type TokenRecord } from './store/records.ts'

/** What a login of a user needs. */
export interface AuthorizeRequest {
  readonly server: URL
  readonly discovery: Discovery
  readonly scopes: readonly string[]
  /** Whether the tokens are to be bound to a new key. */
  readonly isBound: boolean
  readonly settings: OAuthSettings
  readonly network: GuardedNetwork
  readonly nonces: ReceivedNonces
}

/**
 * Asks the user to log in, and resolves to the tokens. Rejects with an AuthError, `'login-required'` if no user can be
 * asked or nobody logged in within `loginMs`.
 */
export async function authorize(
  request: AuthorizeRequest,
  signal: AbortSignal,
): Promise<TokenRecord> {
  const { server, discovery, scopes, settings, network, nonces } = request
  const { metadata, resource } = discovery
  const { issuer } = metadata
  if (settings.redirect === undefined) {
    const words = `${server.href} requires a login at ${issuer}`
    throw new AuthError('login-required', words, { url: server.href, issuer, resource, scopes })
  }
  const state = randomText()
  const registered = (await readRegistration(settings.store, issuer))?.redirectUris ?? []
  const isExpected = (callback: URL) => isCallbackOf({ state }, callback)
  const listener = await settings.redirect.listen({ registered, isExpected })
  try {
    const { client, redirectUri } = await registeredClient({
      settings,
      network,
      metadata,
      redirectUris: listener.uris,
      signal,
    })
    const { clientId } = client
    const dpop = request.isBound ? await DpopKey.create(nonces) : undefined
    const start = { server, discovery, clientId, redirectUri, scopes, dpop, state, network }
    const { url, pending } = await startLogin(start)
    const callback = await callbackOf(url, listener, settings, isExpected, signal)
    return await endLogin(pending, callback, { discovery, client, network, nonces, signal })
  } finally {
    await listener.close()
  }
}

/** Shows the page to the user and waits for the browser to return, in whichever way that is noticed first. */
async function callbackOf(
  url: URL,
  { callback }: RedirectListener,
  { open, loginMs }: OAuthSettings,
  isExpected: (callback: URL) => boolean,
  signal: AbortSignal,
): Promise<URL> {
  const done = new AbortController()
  const late = AbortSignal.timeout(loginMs)
  const ended = AbortSignal.any([signal, done.signal, late])
  const shown = async (): Promise<URL> => {
    const show = open ?? openBrowser(isExpected)
    const returned = await show(url, ended)
    // Without an answer of its own, only the listener knows.
    return returned instanceof URL ? returned : callback
  }
  try {
    return await abortable(Promise.race([callback, shown()]), AbortSignal.any([signal, late]))
  } catch (error) {
    signal.throwIfAborted()
    if (!late.aborted) throw error
    throw new AuthError('login-required', `nobody logged in within ${loginMs} ms`)
  } finally {
    done.abort()
  }
}

/** Opens a browser, or asks on the terminal if there is none. */
function openBrowser(isExpected: (callback: URL) => boolean): OpenPage {
  return async (url, signal) => {
    const { openInBrowser } = await import('./login/node-browser.ts')
    if (await openInBrowser(url)) return
    const { askOnTerminal } = await import('./login/node-terminal.ts')
    return askOnTerminal(url, isExpected, signal)
  }
}
