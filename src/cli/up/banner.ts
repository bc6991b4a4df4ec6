import { isExcludedByRules } from '../../router/catalog/names.ts'
import type { Router } from '../../router/router.ts'
import type { ServerStatus } from '../../router/status.ts'
import { limits } from '../../util/limits/limits.ts'
import type { Style, Terminal } from '../terminal.ts'
import { oneLine } from '../terminal.ts'
import { commandPid } from '../workers/worker.ts'

/** What the banner of a running router shows. */
export interface BannerInfo {
  readonly router: Router
  readonly addresses: readonly string[]
  /** The view that is served there; undefined for everything. */
  readonly view?: string
  /** The addresses of other views, by view. */
  readonly views?: readonly (readonly [view: string, addresses: readonly string[]])[]
  /** Whether callers search tools instead of listing them. */
  readonly hasSearch?: boolean
  /** URL of the health check, if there is one. */
  readonly ops: string | undefined
  /** Who can log in, if an authorization server for development runs beside the router. */
  readonly devAuth?: string
  /** How many processes serve this; 1 by default. */
  readonly workers?: number | undefined
  /** The link that opens the console, if there is one. */
  readonly console?: string | undefined
  /** The command that runs this program. */
  readonly program: string
  /** Operands of a `call` that works, if one is known. */
  readonly example: string | undefined
}

/**
 * Prints addresses, servers and three commands to try, on stdout; on stderr if stdout carries protocol messages.
 */
export function printBanner(terminal: Terminal, info: BannerInfo): void {
  const { router, addresses, view, views = [], hasSearch = false, ops, program, example } = info
  const isStdio = addresses.includes('stdio:')
  // Written at once, because a reader may close the pipe at the line it waits for.
  const lines: string[] = []
  const paint: Paint = (text, style) =>
    isStdio ? terminal.styleStderr(text, style) : terminal.style(text, style)
  const serving = (address: string, of: string | undefined): string => {
    const part = of === undefined ? '' : ` (view ${of})`
    return `${paint('Serving', 'bold')} ${paint(address, 'cyan')}${part}`
  }
  for (const address of addresses) lines.push(serving(address, view))
  for (const [name, those] of views) for (const each of those) lines.push(serving(each, name))
  const { workers = 1 } = info
  if (workers > 1) {
    lines.push(`  ${workers} workers, each with its own instances of the local programs below`)
  }
  // The lines of names are indented by six characters.
  const width = terminal.width - 6
  const tools = router.tools()
  // Tools excluded by configuration rules are hidden on purpose.
  const hidden = router
    .hidden()
    .filter(({ what, why }) => what === 'tool' && !isExcludedByRules(why))
  for (const server of router.servers()) {
    const names = tools.filter(tool => tool.server === server.name).map(({ name }) => name)
    lines.push(`  ${serverLine(paint, server, names.length)}`)
    if (names.length > 0) lines.push(`      ${paint(listed(names, width), 'dim')}`)
    const [first, ...others] = hidden.filter(entry => entry.server === server.name)
    if (first === undefined) continue
    const shown = [first, ...others].map(({ name }) => oneLine(name, 64))
    const unseen = listed(shown, width - `hidden:  (${first.why})`.length)
    lines.push(`      ${paint('hidden:', 'yellow')} ${unseen} (${first.why})`)
  }
  if (router.servers().some(({ action }) => action !== undefined)) {
    lines.push(`  ${paint('quarantined servers:', 'yellow')} ${retryText()}`)
  }
  const isListed = !hasSearch && view === undefined
  if (isListed && tools.length > limits.manyTools.default) {
    const advice = '"toolSearch": {} lists a search instead, and "views" select tools'
    lines.push(
      `  ${paint(`${tools.length} tools`, 'yellow')} are more than most hosts use: ${advice}`,
    )
  }
  if (router.servers().length === 0) lines.push('  no servers yet')
  if (info.devAuth !== undefined) lines.push(`  ${paint('login', 'yellow')} ${info.devAuth}`)
  const first = addresses.find(address => address !== 'stdio:')
  if (first !== undefined) {
    const tries = [
      ...(info.devAuth === undefined ? [] : [`${program} login ${first}`]),
      `${program} list ${first}`,
      example === undefined ? `${program} check ${first}` : `${program} call ${first} ${example}`,
      ops === undefined ? `${program} bench ${first}` : `curl ${ops}`,
    ]
    lines.push('', 'Try:', ...tries.map(line => `  ${line}`))
  }
  if (info.console !== undefined) {
    lines.push('', `${paint('Console', 'bold')} ${paint(info.console, 'cyan')}`)
  }
  const text = `${lines.join('\n')}\n`
  if (isStdio) terminal.note(text)
  else terminal.line(text)
  terminal.note('Press Ctrl-C to stop; calls in flight are completed first.')
}

/**
 * Names the servers that are still starting, if there are any. The banner waits for all of them, and downloading
 * a program may take a minute.
 */
export function noteSlowServers(
  terminal: Terminal,
  router: Router,
  addresses: readonly string[],
): void {
  const slow = router
    .servers()
    .filter(({ instances }) => instances.some(({ state }) => state === 'starting'))
  if (slow.length === 0) return
  const names = oneLine(slow.map(({ name }) => name).join(', '), 300)
  terminal.note(`Serving ${addresses.join(', ')}; still starting: ${names}`)
}

/** Removes the step of the connection from a reason: the user knows that the server is being started. */
export function withoutStep(reason: string): string {
  return reason.replace(/\bopening: /, '')
}

/** Returns how an operator gets a quarantined server restarted. */
export function retryText(): string {
  return process.platform === 'win32'
    ? 'fix the reason and save the configuration to retry'
    : `fix the reason, then save the configuration or run "kill -HUP ${commandPid()}" to retry`
}

type Paint = (text: string, style: Style) => string

/** The maximum number of names in one line. */
const maxNames = 8

/** Lists the names that fit into a line of `width` characters, at least one, and counts the rest. */
function listed(names: readonly string[], width: number): string {
  for (let shown = Math.min(names.length, maxNames); ; shown--) {
    const rest = names.length - shown
    const text = names.slice(0, shown).join(', ') + (rest === 0 ? '' : ` and ${rest} more`)
    if (text.length <= width || shown <= 1) return text
  }
}

/** Formats one server with the number of tools that callers see. */
function serverLine(paint: Paint, server: ServerStatus, tools: number): string {
  const { name, level, reason, instances } = server
  const mark = { ok: '✓', degraded: '!', down: '✗' }[level]
  const color = { ok: 'green', degraded: 'yellow', down: 'red' } as const
  const many = instances.length === 1 ? '' : `, ${instances.length} instances`
  const size = `${tools} ${tools === 1 ? 'tool' : 'tools'}${many}`
  const text = reason === undefined ? size : `${size}: ${oneLine(withoutStep(reason), 200)}`
  return `${paint(mark, color[level])} ${name} (${text})`
}
