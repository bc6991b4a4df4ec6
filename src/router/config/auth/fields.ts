import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamIdentityProvider,
  UpstreamIdJag,
} from '../../../mcp/credentials.ts'
import { type Field, type FieldType, group, list, member, nonEmpty, union } from '../field.ts'

/** How a router authenticates its callers, as a configuration file describes it. */
export interface AuthConfig {
  /** The URL under which callers know the router. */
  readonly resource?: string
  /** Accepts JSON Web Tokens of an issuer. */
  readonly jwt?: JwtConfig
  /** Accepts tokens that their issuer confirms. */
  readonly introspection?: IntrospectionConfig
  /** Accepts API keys. */
  readonly apiKeys?: ApiKeysConfig
  /** The scopes that every message needs. */
  readonly scopes?: readonly string[]
}

/** Which JSON Web Tokens are accepted. */
export interface JwtConfig {
  /** The issuer, or several spellings of it. */
  readonly issuer: string | readonly string[]
  /** The audiences that tokens may be issued for; the resource by default. */
  readonly audience?: string | readonly string[]
  /** The URL of the key set; by default the metadata of the issuer name it. */
  readonly jwks?: string
  /** The claim that has the scopes, if it is not `scope` or `scp`. */
  readonly scopesFrom?: string
  /** The claim that has the roles. */
  readonly rolesFrom?: string
}

/** Where tokens are confirmed. */
export interface IntrospectionConfig {
  /** The issuer of the tokens. */
  readonly issuer: string
  /** The introspection endpoint of the issuer. */
  readonly endpoint: string
  /** The client id of the router at the issuer. */
  readonly clientId: string
  /** The client secret of the router at the issuer. */
  readonly clientSecret: string
  /** The audiences that tokens may be issued for; the resource by default. */
  readonly audience?: string | readonly string[]
}

/** Which API keys are accepted. */
export interface ApiKeysConfig {
  /** The path of the file that `trunkline keys` maintains. */
  readonly file: string
  /** A header that carries the key, besides `Authorization`. */
  readonly header?: string
}

/** An https: URL, or an http: URL of this machine. */
const webUrl: FieldType = { kind: 'string', rule: 'web' }
const audienceType = union(nonEmpty, list(nonEmpty, 1))

/** Fields of `auth`. */
export const authFields: Record<keyof AuthConfig, Field> = {
  resource: {
    type: webUrl,
    meaning:
      'The URL under which callers know the router, for which tokens must be issued. Required if other machines can reach an address of `listen`.',
    default: '(the address of the listener)',
    example: 'https://tools.example.com/mcp',
  },
  jwt: {
    type: group('jwt'),
    meaning: 'Accepts JSON Web Tokens of an issuer.',
    example: { issuer: 'https://as.example.com' },
  },
  introspection: {
    type: group('introspection'),
    meaning: 'Accepts tokens that their issuer confirms (RFC 7662).',
    example: {
      issuer: 'https://as.example.com',
      endpoint: 'https://as.example.com/introspect',
      clientId: 'router',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      clientSecret: '${INTROSPECTION_SECRET}',
    },
  },
  apiKeys: {
    type: union(group('apiKeys'), member('file', nonEmpty)),
    meaning:
      'Accepts the API keys of a file that `trunkline keys` maintains. A path is the same as `file`. Changes of the file apply at once.',
    example: 'keys.json',
  },
  scopes: {
    type: list(nonEmpty),
    meaning: 'Scopes that every message needs.',
    default: [],
    example: ['mcp'],
  },
}

/** Fields of `jwt`. */
export const jwtFields: Record<keyof JwtConfig, Field> = {
  issuer: {
    type: union(webUrl, list(webUrl, 1)),
    meaning: 'The issuer, as the claim `iss` has it, or several spellings of it. Required.',
    example: 'https://as.example.com',
  },
  audience: {
    type: audienceType,
    meaning: 'The audiences, one of which the claim `aud` must contain.',
    default: '(`resource`)',
    example: 'api://tools',
  },
  jwks: {
    type: webUrl,
    meaning: 'The URL of the key set.',
    default: '(as the metadata of the issuer say)',
    example: 'https://as.example.com/jwks',
  },
  scopesFrom: {
    type: nonEmpty,
    meaning: 'The claim that has the scopes; dots separate the names of members.',
    default: '(`scope` or `scp`)',
    example: 'permissions',
  },
  rolesFrom: {
    type: nonEmpty,
    meaning: 'The claim that has the roles; dots separate the names of members.',
    default: '(none)',
    example: 'realm_access.roles',
  },
}

/** Fields of `introspection`. */
export const introspectionFields: Record<keyof IntrospectionConfig, Field> = {
  issuer: {
    type: webUrl,
    meaning: 'The issuer of the tokens. Required.',
    example: 'https://as.example.com',
  },
  endpoint: {
    type: webUrl,
    meaning: 'The introspection endpoint of the issuer. Required.',
    example: 'https://as.example.com/introspect',
  },
  clientId: {
    type: nonEmpty,
    meaning: 'The client id of the router at the issuer. Required.',
    example: 'router',
  },
  clientSecret: {
    type: nonEmpty,
    meaning: 'A reference to the client secret. Required.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: '${INTROSPECTION_SECRET}',
  },
  audience: {
    type: audienceType,
    meaning: 'The audiences, one of which the token must have.',
    default: '(`resource`)',
    example: 'api://tools',
  },
}

/** Fields of `apiKeys`. */
export const apiKeysFields: Record<keyof ApiKeysConfig, Field> = {
  file: {
    type: nonEmpty,
    meaning: 'Path of the file. Required. Only its owner may be able to read it.',
    example: 'keys.json',
  },
  header: {
    type: { kind: 'string', rule: 'header' },
    meaning: 'A header that carries the key, besides `Authorization: Bearer`.',
    default: '(none)',
    example: 'x-api-key',
  },
}

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
  'bearer' | 'clientCredentials' | 'exchange' | 'idJag',
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
  scopes: {
    type: list(nonEmpty),
    meaning: 'Scopes to ask for, besides those that the server names.',
    default: [],
    example: ['search'],
  },
}
