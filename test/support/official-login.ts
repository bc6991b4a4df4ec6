const redirect = 'http://127.0.0.1:9/callback'

/** What the providers of both packages have in common: keeps everything in memory, and asks the user `open`. */
export function officialLogin(open: (page: URL) => Promise<URL>) {
  const kept = new Map<string, unknown>()
  const pages: URL[] = []
  let callback: URL | undefined
  return {
    pages,
    code: () => callback?.searchParams.get('code') ?? '',
    callback: () => callback?.searchParams ?? new URLSearchParams(),
    provider: {
      redirectUrl: redirect,
      clientMetadata: {
        client_name: 'official',
        redirect_uris: [redirect],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      },
      clientInformation: () => kept.get('client') as never,
      saveClientInformation: (client: unknown) => void kept.set('client', client),
      tokens: () => kept.get('tokens') as never,
      saveTokens: (tokens: unknown) => void kept.set('tokens', tokens),
      codeVerifier: () => String(kept.get('verifier')),
      saveCodeVerifier: (verifier: string) => void kept.set('verifier', verifier),
      discoveryState: () => kept.get('discovery') as never,
      saveDiscoveryState: (state: unknown) => void kept.set('discovery', state),
      redirectToAuthorization: async (page: URL) => {
        pages.push(page)
        callback = await open(page)
      },
    },
  }
}
