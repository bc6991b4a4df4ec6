/** How the router treats a configuration key of other hosts. */
export interface ForeignKey {
  /** A warning is reported and the key ignored; an error rejects the file. */
  readonly severity: 'warning' | 'error'
  /** The rest of a sentence that starts with the key. */
  readonly message: string
}

/**
 * Server keys of popular hosts that the router does not support.
 *
 * Keys that only configure the host are ignored with a warning. Keys that would change what is started,
 * contacted or exposed are errors that name the field to use instead: a tool that is disabled in another
 * host must not reappear because the key was ignored.
 */
export const foreignServerKeys: ReadonlyMap<string, ForeignKey> = new Map([
  ['description', ignored('is not displayed')],
  ['autoApprove', ignored('is decided by the host application')],
  ['alwaysAllow', ignored('is decided by the host application')],
  ['trust', ignored('is decided by the host application')],
  ['gallery', ignored('is a VS Code setting')],
  ['dev', ignored('is a VS Code setting')],
  [
    'timeout',
    ignored('is in seconds for some hosts and in milliseconds for others; use timeoutMs'),
  ],
  ['envFile', instead('is not supported; set the variables in env or name them in inheritEnv')],
  ['sandbox', instead('is not supported; run the sandbox as the command')],
  ['sandboxEnabled', instead('is not supported; run the sandbox as the command')],
  ['oauth', instead('is not supported; put a token into headers')],
  ['headersHelper', instead('is not supported; put its output into headers, using variables')],
  ['serverUrl', instead('is called url here')],
  ['httpUrl', instead('is called url here')],
  ['endpoint', instead('is called url here')],
  ['transport', instead('is called type here and can be omitted')],
  ['transportType', instead('is called type here and can be omitted')],
  ['enabled', instead('is inverted here; use disabled')],
  ['disabledTools', instead('is written tools: { deny: […] } here')],
  ['excludeTools', instead('is written tools: { deny: […] } here')],
  ['includeTools', instead('is written tools: { allow: […] } here')],
  ['enabledTools', instead('is written tools: { allow: […] } here')],
])

/** Top-level keys of other hosts that the router does not support. */
export const foreignFileKeys: ReadonlyMap<string, ForeignKey> = new Map([
  ['globalShortcut', ignored('is a Claude Desktop setting')],
  ['preferences', ignored('is a Claude Desktop setting')],
  ['context_servers', instead('is called mcpServers here')],
  ['mcp', instead('is not supported; use mcpServers or servers at the top level')],
])

function ignored(why: string): ForeignKey {
  return { severity: 'warning', message: `${why}; it is ignored` }
}

function instead(message: string): ForeignKey {
  return { severity: 'error', message }
}
