// A real authorization server: the package oidc-provider, with a user who logs in and consents at once.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

/** Starts the authorization server on this machine. Its access tokens are JWTs that expire after `lifetime` seconds. */
export async function oidcProvider(lifetime = 600) {
  const grants = []
  let answer = (_, response) => response.end()
  const http = createServer((request, response) => answer(request, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const issuer = `http://127.0.0.1:${http.address().port}`
  const provider = new Provider(issuer, await configuration(lifetime))
  for (const event of ['grant.success', 'grant.error']) {
    provider.on(event, ({ oidc }, error) => {
      grants.push(`${oidc.params?.grant_type}${error === undefined ? '' : ` ${error.error}`}`)
    })
  }
  const callback = provider.callback()
  answer = (request, response) => {
    if (!request.url.startsWith('/interaction/')) return callback(request, response)
    interact(provider, request, response).catch(error => {
      response.writeHead(500).end(String(error))
    })
  }
  return {
    issuer,
    /** The grant types of all token requests so far, with the error of those that failed. */
    grants,
    open: page => browse(page, issuer),
    close: async () => {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}

async function configuration(accessTokenTTL) {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'k1' }
  const scope = 'notes:read notes:write'
  return {
    jwks: { keys: [key] },
    scopes: ['openid', 'offline_access', ...scope.split(' ')],
    cookies: { keys: ['not secret'] },
    clients: [
      {
        client_id: 'program',
        client_secret: 'a secret of the program',
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope,
          audience: resource,
          accessTokenTTL,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  }
}

/** Does what a user does: logs in as ada, and consents to everything. */
async function interact(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    const result = { login: { accountId: 'ada' } }
    return provider.interactionFinished(request, response, result)
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
  grant.addOIDCScope(params.scope ?? '')
  grant.addResourceScope(params.resource, params.scope ?? '')
  const result = { consent: { grantId: await grant.save() } }
  return provider.interactionFinished(request, response, result)
}

/** Does what a browser does: follows redirects with cookies, until one leads elsewhere. */
async function browse(page, issuer) {
  const cookies = new Map()
  let url = page
  while (url.origin === issuer) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${response.status}: ${await response.text()}`)
    await response.body?.cancel()
    url = new URL(location, url)
  }
  return url
}
