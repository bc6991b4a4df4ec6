/** A command line, split into words. */
export interface SplitCommand {
  readonly command: string
  readonly args: readonly string[]
  /** Whether the split is certain: the first word is a program that is known to start servers. */
  readonly isCertain: boolean
}

/**
 * Splits a `command` that holds a whole command line, as in `node server.js`. Returns undefined for one word, for
 * a path, whose folders may contain spaces, and for a text with syntax of a shell.
 */
export function splitCommand(text: string): SplitCommand | undefined {
  const words = Array.from(
    text.trim().matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  )
  const [command = '', ...args] = words
  if (args.length === 0 || /[\\/"']/.test(command) || /[|&;<>`$()]/.test(text)) return undefined
  return { command, args, isCertain: launchers.has(command.replace(/\.(?:exe|cmd)$/i, '')) }
}

const launchers: ReadonlySet<string> = new Set([
  ...['node', 'npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'deno', 'tsx'],
  ...['python', 'python3', 'py', 'uv', 'uvx', 'pipx', 'poetry'],
  ...['docker', 'podman', 'java', 'dotnet', 'go', 'cargo', 'ruby', 'php'],
])
