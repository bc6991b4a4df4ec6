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
  /** The router as a client of the issuer, so that it can log in browsers of its callers. */
  readonly login?: LoginConfig
}

/** The router as a client of the issuer of its callers. */
export interface LoginConfig {
  /** The client id of the router at the issuer. */
  readonly clientId: string
  /** The client secret of the router at the issuer, if it has one. */
  readonly clientSecret?: string
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
export const webUrl: FieldType = { kind: 'string', rule: 'web' }
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
  login: {
    type: group('login'),
    meaning:
      'The router as a client of the issuer (OpenID Connect), so that the pages on which users grant access know whose browser visits them. Required for `user` of a server, unless only this machine reaches the router. The issuer must allow the redirect to `/connect/login`.',
    default: '(none)',
    example: { clientId: 'router-pages' },
  },
}

/** Fields of `login`. */
export const loginFields: Record<keyof LoginConfig, Field> = {
  clientId: {
    type: nonEmpty,
    meaning: 'The client id of the router at the issuer. Required.',
    example: 'router-pages',
  },
  clientSecret: {
    type: nonEmpty,
    meaning: 'A reference to the client secret, if the router has one.',
    default: '(none)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: '${LOGIN_SECRET}',
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
