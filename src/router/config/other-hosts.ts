/** What becomes of a key of other programs' files. */
export interface ForeignKey {
  /** Told and otherwise passed over, or a reason not to use the file. */
  readonly severity: 'warning' | 'error'
  /** The rest of a sentence that begins with the key. */
  readonly message: string
}

/**
 * Keys of servers that popular hosts know and that are none here.
 *
 * Those that only steer a host are passed over with a warning. Those that would change what is started,
 * what is reached or what is shown are errors that name the field to write instead: a tool that was
 * switched off elsewhere must not come back because nobody understood the key.
 */
export const foreignServerKeys: ReadonlyMap<string, ForeignKey> = new Map([
  ['description', passedOver('is not shown anywhere')],
  ['autoApprove', passedOver('is up to the program that asks its user')],
  ['alwaysAllow', passedOver('is up to the program that asks its user')],
  ['trust', passedOver('is up to the program that asks its user')],
  ['gallery', passedOver('is for VS Code')],
  ['dev', passedOver('is for VS Code')],
  ['timeout', passedOver('has seconds in some files and milliseconds in others; write timeoutMs')],
  ['envFile', instead('is not read; write the variables into env, or name them in inheritEnv')],
  ['sandbox', instead('is not set up here; make the sandbox itself the command')],
  ['sandboxEnabled', instead('is not set up here; make the sandbox itself the command')],
  ['oauth', instead('is not done here; put a token into headers')],
  ['headersHelper', instead('is not run; put what it gives into headers, by variables')],
  ['serverUrl', instead('is called url here')],
  ['httpUrl', instead('is called url here')],
  ['endpoint', instead('is called url here')],
  ['transport', instead('is called type here, and can be left out')],
  ['transportType', instead('is called type here, and can be left out')],
  ['enabled', instead('is turned round here; write disabled')],
  ['disabledTools', instead('is written tools: { deny: […] } here')],
  ['excludeTools', instead('is written tools: { deny: […] } here')],
  ['includeTools', instead('is written tools: { allow: […] } here')],
  ['enabledTools', instead('is written tools: { allow: […] } here')],
])

/** The same for keys beside the servers. */
export const foreignFileKeys: ReadonlyMap<string, ForeignKey> = new Map([
  ['globalShortcut', passedOver('is for Claude Desktop')],
  ['preferences', passedOver('is for Claude Desktop')],
  ['context_servers', instead('is called mcpServers here')],
  ['mcp', instead('is not looked into; write mcpServers or servers at the top')],
])

function passedOver(why: string): ForeignKey {
  return { severity: 'warning', message: `${why}; it does nothing here` }
}

function instead(message: string): ForeignKey {
  return { severity: 'error', message }
}
