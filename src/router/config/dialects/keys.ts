import { display, field, ignored, type KeyRule, type KeyRules } from './dialect.ts'

const decidedByHost = ignored('is decided by the host application')
const notSupported = (why: string): KeyRule => ({
  kind: 'refused',
  why: `is not supported; ${why}`,
})

/**
 * Keys of servers that mean the same in the files of all hosts.
 *
 * A key that has a certain equivalent here is translated. A key that only concerns its host is ignored. A key
 * that would change what is started or exposed and has no equivalent is refused: what a host isolates must not
 * run without its isolation because the key was ignored.
 */
export const serverKeys: KeyRules = new Map<string, KeyRule>([
  ['serverUrl', field('url')],
  ['httpUrl', field('url')],
  ['baseUrl', field('url')],
  ['endpoint', field('url')],
  ['uri', field('url')],
  ['transport', field('type')],
  ['transportType', field('type')],
  ['transport_type', field('type')],
  ['cmd', field('command')],
  ['environment', field('env')],
  ['envs', field('env')],
  ['envFile', { kind: 'envFile' }],
  ['env_file', { kind: 'envFile' }],
  ['env_vars', field('inheritEnv')],
  ['env_keys', field('inheritEnv')],
  ['working_directory', field('cwd')],
  ['workingDirectory', field('cwd')],
  ['http_headers', field('headers')],
  ['env_http_headers', field('headers', 'references')],
  ['bearer_token_env_var', field('headers', 'bearer')],
  ['bearerTokenEnvVar', field('headers', 'bearer')],
  ['requestOptions', { kind: 'members' }],
  ['requestInit', { kind: 'members' }],
  ['config', { kind: 'members' }],
  ['enabled', field('disabled', 'not')],
  ['isActive', field('disabled', 'not')],
  ['active', field('disabled', 'not')],
  ['disabledTools', field('tools.deny')],
  ['disabled_tools', field('tools.deny')],
  ['excludeTools', field('tools.deny')],
  ['excludedTools', field('tools.deny')],
  ['blockedTools', field('tools.deny')],
  ['includeTools', field('tools.allow')],
  ['enabledTools', field('tools.allow')],
  ['enabled_tools', field('tools.allow')],
  ['allowedTools', field('tools.allow')],
  ['available_tools', field('tools.allow')],
  ['startup_timeout_sec', field('connectTimeoutMs', 'seconds')],
  ['startup_timeout_ms', field('connectTimeoutMs', 'ms')],
  ['connectionTimeout', field('connectTimeoutMs', 'ms')],
  ['initTimeout', field('connectTimeoutMs', 'ms')],
  ['tool_timeout_sec', field('timeoutMs', 'seconds')],
  ['description', ignored('is not displayed')],
  ['autoApprove', decidedByHost],
  ['alwaysAllow', decidedByHost],
  ['trust', decidedByHost],
  ['trusted', decidedByHost],
  ['gallery', ignored('is a VS Code setting')],
  ['dev', ignored('is a VS Code setting')],
  ['watchPaths', ignored('is a setting for development')],
  ['start_on_launch', ignored('is decided by the host application')],
  ['oauth', ignored('is not supported; put a token into headers')],
  ['auth', ignored('of another host is not supported; use auth in our form')],
  ['authProviderType', ignored('is not supported; put a token into headers')],
  ['sandbox', notSupported('run the sandbox as the command')],
  ['sandboxEnabled', notSupported('run the sandbox as the command')],
  ['headersHelper', notSupported('put its output into headers, using variables')],
  ...[
    ...['name', 'title', 'displayName', 'display_name', 'id', 'version', 'source', 'settings'],
    ...['bundled', 'registryUrl', 'provider', 'providerUrl', 'logoUrl', 'icon', 'iconPath'],
    ...['tags', 'longRunning', 'installSource', 'isTrusted', 'trustedAt', 'installedAt'],
    ...['required', 'default_tools_approval_mode', 'supports_parallel_tool_calls', 'scopes'],
    ...['comment', 'comments', 'note', 'notes', 'chatMenu', 'serverInstructions', 'lastModified'],
    ...[
      'fromGalleryId',
      'marketplaceUrl',
      'autoStart',
      'autostart',
      'sessionTimeout',
      'repository',
    ],
  ].map(key => [key, display] as const),
])

/** The message for `timeout` in a file whose host is not known. */
export const unknownTimeout = ignored(
  'is in seconds for some hosts and in milliseconds for others; use timeoutMs',
)
