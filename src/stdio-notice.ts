/** What the notice says depends on these properties of the process. */
export interface NoticeContext {
  /** The arguments of the process, with the runtime and the file. */
  readonly argv: readonly string[]
  readonly cwd: string
}

/**
 * Returns the notice for a person who starts a server on stdio in a terminal, where it would seem to hang:
 * that an MCP host is meant to start it, and two commands to try.
 */
export function stdioNotice({ argv, cwd }: NoticeContext): string {
  const [, file = 'server.js', ...args] = argv
  const isInside = file.startsWith(`${cwd}/`) || file.startsWith(`${cwd}\\`)
  const shown = isInside ? file.slice(cwd.length + 1) : file
  const command = ['node', shown, ...args].join(' ')
  return `This server speaks MCP on stdin and stdout, for an MCP host to start. Try: npx trunkline list -- ${command}, or ${command} --http 3000`
}
