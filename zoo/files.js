import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../scripts/steps.js'
import { folder } from './install.js'

/** `[host, file]`: the kinds of configuration files, as in test/fixtures/hosts. */
const kinds = [
  ['Claude Code, project', 'claude-code/.mcp.json'],
  ['Claude Code, user', 'claude-user/.claude.json'],
  ['Claude Desktop', 'claude-desktop/claude_desktop_config.json'],
  ['Cursor', 'cursor/.cursor/mcp.json'],
  ['VS Code', 'vscode/.vscode/mcp.json'],
  ['VS Code, settings', 'vscode-settings/settings.json'],
  ['GitHub Copilot CLI', 'copilot/.copilot/mcp-config.json'],
  ['Windsurf', 'windsurf/.codeium/windsurf/mcp_config.json'],
  ['Cline', 'cline/cline_mcp_settings.json'],
  ['Roo Code', 'roo/.roo/mcp.json'],
  ['Kiro', 'kiro/.kiro/settings/mcp.json'],
  ['Amazon Q', 'amazonq/.amazonq/mcp.json'],
  ['Gemini CLI', 'gemini/.gemini/settings.json'],
  ['Codex', 'codex/.codex/config.toml'],
  ['Goose', 'goose/.config/goose/config.yaml'],
  ['Continue', 'continue/.continue/config.yaml'],
  ['Zed', 'zed/.config/zed/settings.json'],
  ['opencode', 'opencode/opencode.json'],
  ['Crush', 'crush/crush.json'],
  ['Amp', 'amp/settings.json'],
  ['Warp', 'warp/warp.json'],
  ['Cherry Studio', 'cherry-studio/mcp.json'],
  ['LangChain', 'langchain/mcp.json'],
  ['FastMCP', 'fastmcp/mcp.json'],
  ['written by hand: comments, numbers, null', 'plain/mcp.json'],
  ['MCP bundle', 'bundle/manifest.json'],
]

/** Reads a file of each kind with `trunkline up --dry-run`. Resolves to what would be served, by kind. */
export async function readFiles() {
  const place = join(folder, 'files')
  rmSync(place, { recursive: true, force: true })
  cpSync(join(root, 'test/fixtures/hosts'), place, { recursive: true })
  // What the files refer to.
  for (const host of ['cursor', 'vscode']) writeFileSync(join(place, host, '.env'), 'FROM_FILE=a\n')
  const secret = join(place, 'secret')
  writeFileSync(secret, 'k3y\n')
  const windsurf = join(place, 'windsurf/.codeium/windsurf/mcp_config.json')
  writeFileSync(windsurf, readFileSync(windsurf, 'utf8').replace('/keys/other', secret))
  mkdirSync(join(place, 'bundle'))
  writeFileSync(join(place, 'bundle/manifest.json'), JSON.stringify(bundle))
  const rows = []
  for (const [host, file] of kinds) rows.push({ host, file, ...(await read(place, file)) })
  return rows
}

const bundle = {
  manifest_version: '0.3',
  name: 'bundled',
  version: '1.0.0',
  description: 'A bundle',
  author: { name: 'Somebody' },
  server: {
    type: 'node',
    entry_point: 'server.js',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference in bundles
    mcp_config: { command: 'node', args: ['${__dirname}/server.js'] },
  },
}

function read(cwd, file) {
  const program = join(root, 'dist/cli/main.js')
  const env = { PATH: process.env.PATH, HOME: cwd, TOKEN: 't0ken', INPUT_API_KEY: 'asked' }
  return new Promise(resolve => {
    execFile(
      process.execPath,
      [program, 'up', file.replace(/^bundle\/.*/, 'bundle'), '--dry-run', '--json'],
      { cwd, env },
      (_error, stdout, stderr) => {
        try {
          const { servers, invalid, notes } = JSON.parse(stdout)
          resolve({ servers, invalid, notes: notes.length })
        } catch {
          resolve({ servers: [], invalid: [], error: stderr.trim().split('\n')[0] })
        }
      },
    )
  })
}
