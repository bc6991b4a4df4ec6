import { join } from 'node:path'
import type { Environment } from '../../router/config/env.ts'
import { homeOf } from '../target/places.ts'

/** How a host writes the entry of a server. */
export type EntryForm =
  /** `command`, `args`, `env`; or `url`. */
  | 'plain'
  /** The same with `type`. */
  | 'typed'
  /** The program and its arguments in one list. */
  | 'list'
  /** As Goose writes it: `cmd`, and `uri`. */
  | 'goose'

/** A host whose configuration file the router finds and edits. */
export interface HostRow {
  /** The name on the command line. */
  readonly id: string
  /** The name for readers. */
  readonly title: string
  /** The file in the folder of a project. */
  readonly project?: string
  /** The file of the user: one path for all platforms, or one each. `~` is the home folder. */
  readonly user?: string | Readonly<Record<'linux' | 'darwin' | 'win32', string>>
  /** Where the servers are in its file. */
  readonly servers: readonly string[]
  readonly form: EntryForm
}

const codeUser = (rest: string): Readonly<Record<'linux' | 'darwin' | 'win32', string>> => ({
  linux: `~/.config/Code/User/${rest}`,
  darwin: `~/Library/Application Support/Code/User/${rest}`,
  win32: `%APPDATA%/Code/User/${rest}`,
})
const storage = 'globalStorage'
const mcpServers = ['mcpServers']

/** The hosts, in the order in which their files are searched for. */
export const hosts: readonly HostRow[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    project: '.mcp.json',
    user: '~/.claude.json',
    servers: mcpServers,
    form: 'typed',
  },
  {
    id: 'vscode',
    title: 'VS Code',
    project: '.vscode/mcp.json',
    user: codeUser('mcp.json'),
    servers: ['servers'],
    form: 'typed',
  },
  {
    id: 'cursor',
    title: 'Cursor',
    project: '.cursor/mcp.json',
    user: '~/.cursor/mcp.json',
    servers: mcpServers,
    form: 'plain',
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    project: '.gemini/settings.json',
    user: '~/.gemini/settings.json',
    servers: mcpServers,
    form: 'plain',
  },
  {
    id: 'kiro',
    title: 'Kiro',
    project: '.kiro/settings/mcp.json',
    user: '~/.kiro/settings/mcp.json',
    servers: mcpServers,
    form: 'plain',
  },
  {
    id: 'roo',
    title: 'Roo Code',
    project: '.roo/mcp.json',
    user: codeUser(`${storage}/rooveterinaryinc.roo-cline/settings/mcp_settings.json`),
    servers: mcpServers,
    form: 'plain',
  },
  {
    id: 'opencode',
    title: 'opencode',
    project: 'opencode.json',
    user: '~/.config/opencode/opencode.json',
    servers: ['mcp'],
    form: 'list',
  },
  {
    id: 'crush',
    title: 'Crush',
    project: 'crush.json',
    user: '~/.config/crush/crush.json',
    servers: ['mcp'],
    form: 'typed',
  },
  {
    id: 'zed',
    title: 'Zed',
    project: '.zed/settings.json',
    user: {
      linux: '~/.config/zed/settings.json',
      darwin: '~/.config/zed/settings.json',
      win32: '%APPDATA%/Zed/settings.json',
    },
    servers: ['context_servers'],
    form: 'plain',
  },
  {
    id: 'codex',
    title: 'Codex',
    project: '.codex/config.toml',
    user: '~/.codex/config.toml',
    servers: ['mcp_servers'],
    form: 'plain',
  },
  {
    id: 'amazonq',
    title: 'Amazon Q',
    project: '.amazonq/mcp.json',
    user: '~/.aws/amazonq/mcp.json',
    servers: mcpServers,
    form: 'plain',
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    user: {
      linux: '~/.config/Claude/claude_desktop_config.json',
      darwin: '~/Library/Application Support/Claude/claude_desktop_config.json',
      win32: '%APPDATA%/Claude/claude_desktop_config.json',
    },
    servers: mcpServers,
    form: 'plain',
  },
  {
    id: 'windsurf',
    title: 'Windsurf',
    user: '~/.codeium/windsurf/mcp_config.json',
    servers: mcpServers,
    form: 'plain',
  },
  {
    id: 'cline',
    title: 'Cline',
    user: codeUser(`${storage}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`),
    servers: mcpServers,
    form: 'plain',
  },
  {
    id: 'copilot',
    title: 'Copilot CLI',
    user: '~/.copilot/mcp-config.json',
    servers: mcpServers,
    form: 'typed',
  },
  {
    id: 'goose',
    title: 'Goose',
    user: {
      linux: '~/.config/goose/config.yaml',
      darwin: '~/.config/goose/config.yaml',
      win32: '%APPDATA%/Block/goose/config/config.yaml',
    },
    servers: ['extensions'],
    form: 'goose',
  },
  {
    id: 'continue',
    title: 'Continue',
    user: '~/.continue/config.yaml',
    servers: mcpServers,
    form: 'plain',
  },
]

/** What the paths of files depend on. */
export interface HostSystem {
  readonly platform: NodeJS.Platform
  readonly env: Environment
  /** The folder of the project. */
  readonly folder: string
}

/** Whether a file belongs to the project in the current folder, or to the user. */
export type HostScope = 'project' | 'user'

/** Returns the path of the file of a host; undefined if the host has none in this scope. */
export function hostPath(
  { project, user }: HostRow,
  scope: HostScope,
  { platform, env, folder }: HostSystem,
): string | undefined {
  if (scope === 'project') return project === undefined ? undefined : join(folder, project)
  const kind = platform === 'win32' || platform === 'darwin' ? platform : 'linux'
  const path = typeof user === 'object' ? user[kind] : user
  if (path === undefined) return undefined
  const home = homeOf(env)
  const [first, ...rest] = path.split('/')
  if (first === '~') return join(home, ...rest)
  return join(env.APPDATA || join(home, 'AppData', 'Roaming'), ...rest)
}
