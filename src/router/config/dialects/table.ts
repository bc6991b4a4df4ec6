import { display, type HostDialect, type KeyRule, workspace } from './dialect.ts'

const mcpServers = [['mcpServers']] as const
/** A reference of a shell: `$NAME`, but neither `$$` nor `${`. */
const dollar = [/(?<!\$)\$([A-Za-z_][A-Za-z0-9_]*)/g, `\${$1}`] as const

/**
 * The formats of configuration files, in the order in which they are tried. A file belongs to the first dialect
 * that its path or its `$schema` names; otherwise to the first, after our own, whose servers it has, and then the
 * unit of `timeout` is not known.
 */
export const dialects: readonly HostDialect[] = [
  {
    host: 'Trunkline',
    files: /(?:^|\/)trunkline\.[^/]*$/,
    schema: /trunkline/,
    servers: [['mcpServers'], ['servers']],
    inputs: [['inputs']],
  },
  {
    host: 'hosts with mcpServers',
    servers: [['mcpServers'], ['servers']],
    inputs: [['inputs']],
  },
  {
    host: 'Claude Code (user)',
    settings: false,
    files: /(?:^|\/)\.claude\.json$/,
    servers: [['projects', workspace, 'mcpServers'], ['mcpServers']],
    except: [['projects', workspace, 'disabledMcpServers']],
    timeout: 'ms',
  },
  { host: 'Claude Code', files: /(?:^|\/)\.mcp\.json$/, servers: mcpServers, timeout: 'ms' },
  {
    host: 'Cline',
    files: /(?:^|\/)cline_mcp_settings\.json$/,
    servers: mcpServers,
    timeout: 'seconds',
  },
  {
    host: 'Roo Code',
    files: /(?:^|\/)(?:\.roo\/mcp|mcp_settings)\.json$/,
    servers: mcpServers,
    timeout: 'seconds',
  },
  {
    host: 'Gemini CLI',
    settings: false,
    files: /(?:^|\/)\.gemini\/settings\.json$/,
    servers: mcpServers,
    only: [['mcp', 'allowed'], ['allowMCPServers']],
    except: [['mcp', 'excluded'], ['excludeMCPServers']],
    timeout: 'ms',
    references: [dollar],
  },
  { host: 'Kiro', files: /(?:^|\/)\.kiro\//, servers: mcpServers, timeout: 'ms' },
  {
    host: 'Amazon Q',
    files: /(?:^|\/)\.(?:amazonq|aws\/amazonq)\//,
    servers: mcpServers,
    timeout: 'ms',
  },
  { host: 'Copilot CLI', files: /(?:^|\/)\.copilot\//, servers: mcpServers, timeout: 'ms' },
  {
    host: 'VS Code',
    files: /(?:^|\/)(?:\.vscode|User)\/mcp\.json$/,
    servers: [['servers'], ['mcpServers']],
    inputs: [['inputs']],
  },
  { host: 'Cursor', files: /(?:^|\/)\.cursor\//, servers: mcpServers },
  { host: 'Windsurf', files: /(?:^|\/)\.codeium\//, servers: mcpServers },
  {
    host: 'Continue',
    settings: false,
    files: /(?:^|\/)\.continue\//,
    servers: mcpServers,
    references: [[/\$\{\{\s*(?:secrets|inputs)\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g, `\${$1}`]],
  },
  {
    host: 'VS Code (settings)',
    settings: false,
    servers: [['mcp', 'servers']],
    inputs: [['mcp', 'inputs']],
  },
  {
    host: 'Zed',
    settings: false,
    files: /(?:^|\/)\.?zed\/settings\.json$/,
    servers: [['context_servers']],
    builtIn: [{ key: 'source', values: ['extension'], why: 'is an extension of Zed' }],
  },
  {
    host: 'Codex',
    settings: false,
    files: /(?:^|\/)\.codex\/config\.toml$/,
    servers: [['mcp_servers']],
    keys: new Map<string, KeyRule>([['tools', display]]),
  },
  {
    host: 'opencode',
    settings: false,
    files: /(?:^|\/)opencode\.jsonc?$/,
    schema: /opencode/,
    servers: [['mcp']],
    timeout: 'ms',
    references: [[/\{(env|file):([^}]*)\}/g, `\${$1:$2}`]],
  },
  {
    host: 'Crush',
    settings: false,
    files: /(?:^|\/)\.?crush\.json$/,
    schema: /charm\.land/,
    servers: [['mcp']],
    timeout: 'seconds',
    references: [dollar],
  },
  {
    host: 'Goose',
    settings: false,
    files: /(?:^|\/)goose\/(?:.*\/)?config\.ya?ml$/,
    servers: [['extensions']],
    timeout: 'seconds',
    builtIn: [
      {
        key: 'type',
        values: ['builtin', 'platform', 'frontend', 'inline_python'],
        why: 'is built into Goose',
      },
    ],
  },
  { host: 'Amp', settings: false, servers: [['amp', 'mcpServers']] },
]
