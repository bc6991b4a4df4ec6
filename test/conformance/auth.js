// The credentials of the client in the scenarios about authorization.

import { clientCredentials, enterprise, oauth, workload } from '../../dist/auth/index.js'

/** Does what a browser does with the page to log in, which the suite answers with a redirect at once. */
async function open(url) {
  const response = await fetch(url, { redirect: 'manual' })
  await response.body?.cancel()
  return new URL(response.headers.get('location') ?? '', url)
}

const user = options =>
  oauth({
    redirect: 'http://localhost:3000/callback',
    open,
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...options,
  })

/** Makes the credentials of a scenario from the context that the suite passes. */
export function credentialsOf(scenario, context) {
  const { client_id: clientId, client_secret: clientSecret } = context
  switch (scenario) {
    case 'auth/client-credentials-jwt': {
      const { private_key_pem: privateKey, signing_algorithm: algorithm } = context
      return clientCredentials({ clientId, privateKey, algorithm })
    }
    case 'auth/client-credentials-basic':
      return clientCredentials({ clientId, clientSecret })
    case 'auth/cross-app-access-complete-flow':
    case 'auth/enterprise-managed-authorization':
      return enterprise({
        clientId,
        clientSecret,
        idToken: context.idp_id_token,
        idp: {
          issuer: context.idp_issuer,
          tokenEndpoint: context.idp_token_endpoint,
          clientId: context.idp_client_id,
        },
      })
    case 'auth/wif-jwt-bearer':
      return workload({ clientId, assertion: () => context.valid_jwt })
    default:
      return user(clientId === undefined ? {} : { clientId, clientSecret })
  }
}
