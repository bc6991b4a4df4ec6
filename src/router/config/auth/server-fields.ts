import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamIdentityProvider,
  UpstreamIdJag,
  UpstreamUserGrant,
} from '../../../mcp/credentials.ts'
import { type Field, group, list, nonEmpty } from '../field.ts'
import { webUrl } from './fields.ts'

/** Fields of `lister` of a server: the ways to authorize requests of the router itself. */
export const listerFields: Record<'bearer' | 'clientCredentials', Field> = {
  bearer: {
    type: nonEmpty,
    meaning: 'A reference to a token, which is sent with every request.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: '${SEARCH_TOKEN}',
  },
  clientCredentials: {
    type: group('clientCredentials'),
    meaning: 'Gets tokens for the router itself, and renews them.',
    example: {
      issuer: 'https://as.example.com',
      clientId: 'router',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      clientSecret: '${ROUTER_SECRET}',
    },
  },
}

/** Fields of `auth` of a server. */
export const serverAuthFields: Record<
  'bearer' | 'clientCredentials' | 'exchange' | 'idJag' | 'user',
  Field
> = {
  ...listerFields,
  exchange: {
    type: group('exchange'),
    meaning:
      'Exchanges the token of each caller for one that is meant for the server (RFC 8693), so that the server sees the caller.',
    example: {
      issuer: 'https://as.example.com',
      clientId: 'router',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      clientSecret: '${ROUTER_SECRET}',
    },
  },
  idJag: {
    type: group('idJag'),
    meaning:
      'Has the identity provider of the callers vouch for each of them to the authorization server of the server (enterprise-managed authorization).',
    example: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      idp: { issuer: 'https://idp.example.com', clientId: 'router', clientSecret: '${IDP_SECRET}' },
      issuer: 'https://as.example.com',
      clientId: 'router',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      clientSecret: '${ROUTER_SECRET}',
    },
  },
  user: {
    type: group('user'),
    meaning:
      'Has the user of each caller grant access on a page of the router, so that the server sees the user. `{}` is enough for a server whose authorization server lets clients register.',
    example: { scopes: ['notes'] },
  },
}

/** Fields of `user`. */
export const userFields: Record<keyof UpstreamUserGrant, Field> = {
  clientId: {
    type: nonEmpty,
    meaning:
      'The client id of the router at the authorization server of the server, which must allow the redirect to `/connect/callback`.',
    default: '(the router registers itself)',
    example: 'router',
  },
  clientSecret: {
    type: nonEmpty,
    meaning: 'A reference to the client secret.',
    default: '(none)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: '${ROUTER_SECRET}',
  },
  issuer: {
    type: webUrl,
    meaning: 'The issuer of the authorization server, the only one that gets the secret.',
    default: '(as the metadata of the server say)',
    example: 'https://as.example.com',
  },
  scopes: {
    type: list(nonEmpty),
    meaning: 'Scopes to ask for, besides those that the server names.',
    default: [],
    example: ['notes'],
  },
}

const routerClient = {
  clientId: {
    type: nonEmpty,
    meaning: 'The client id of the router there. Required.',
    example: 'router',
  },
  clientSecret: {
    type: nonEmpty,
    meaning: 'A reference to the client secret. Required.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: '${ROUTER_SECRET}',
  },
} as const

/** Fields of `exchange`. */
export const exchangeFields: Record<keyof UpstreamExchange, Field> = {
  issuer: {
    type: webUrl,
    meaning: 'The issuer of the authorization server. Required, unless `tokenEndpoint` is given.',
    example: 'https://as.example.com',
  },
  tokenEndpoint: {
    type: webUrl,
    meaning: 'The token endpoint of the authorization server.',
    default: '(as the metadata of the issuer say)',
    example: 'https://as.example.com/token',
  },
  ...routerClient,
  audience: {
    type: nonEmpty,
    meaning: 'The logical name of the server, if the authorization server wants one.',
    default: '(none)',
    example: 'orders',
  },
  resource: {
    type: webUrl,
    meaning: 'The resource that tokens are for.',
    default: '(the address of the server)',
    example: 'https://orders.example.com/mcp',
  },
  scopes: {
    type: list(nonEmpty),
    meaning: 'Scopes to ask for.',
    default: [],
    example: ['orders'],
  },
  actor: {
    type: nonEmpty,
    meaning: 'A reference to a token of the router, if tokens are to name it as the actor.',
    default: '(none)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: '${ROUTER_TOKEN}',
  },
}

/** Fields of `idJag`. */
export const idJagFields: Record<keyof UpstreamIdJag, Field> = {
  idp: {
    type: group('idp'),
    meaning: 'The identity provider, which has issued the tokens of the callers. Required.',
    example: {
      issuer: 'https://idp.example.com',
      clientId: 'router',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      clientSecret: '${IDP_SECRET}',
    },
  },
  issuer: {
    type: webUrl,
    meaning: 'The issuer of the authorization server, the only one that gets the secret. Required.',
    example: 'https://as.example.com',
  },
  ...routerClient,
  scopes: {
    type: list(nonEmpty),
    meaning: 'Scopes to ask for, besides those that the server names.',
    default: [],
    example: ['orders'],
  },
  idTokenFrom: {
    type: nonEmpty,
    meaning: 'The claim of the token of a caller that has its ID token.',
    default: '(the identity provider is asked for one)',
    example: 'id_token',
  },
}

/** Fields of `idp`. */
export const idpFields: Record<keyof UpstreamIdentityProvider, Field> = {
  issuer: {
    type: webUrl,
    meaning: 'The issuer of the identity provider. Required, unless `tokenEndpoint` is given.',
    example: 'https://idp.example.com',
  },
  tokenEndpoint: {
    type: webUrl,
    meaning: 'The token endpoint of the identity provider.',
    default: '(as the metadata of the issuer say)',
    example: 'https://idp.example.com/token',
  },
  ...routerClient,
}

/** Fields of `clientCredentials`. */
export const clientCredentialsFields: Record<keyof UpstreamClient, Field> = {
  issuer: {
    type: webUrl,
    meaning: 'The issuer of the authorization server, the only one that gets the secret. Required.',
    example: 'https://as.example.com',
  },
  ...routerClient,
  scopes: {
    type: list(nonEmpty),
    meaning: 'Scopes to ask for, besides those that the server names.',
    default: [],
    example: ['search'],
  },
}
