import { isKeptBack } from '../../router/catalog/names.ts'
import type { Router } from '../../router/router.ts'
import type { ServerStatus } from '../../router/status.ts'
import type { Style, Terminal } from '../terminal.ts'
import { oneLine } from '../terminal.ts'

/** What is to be said when a router is up. */
export interface Up {
  readonly router: Router
  readonly addresses: readonly string[]
  /** Where figures and health are, if they are anywhere. */
  readonly ops: string | undefined
  /** What to type to run this program. */
  readonly program: string
  /** A call to try, if there is one that is known to work. */
  readonly example: string | undefined
}

/**
 * Says where the router is, what is behind it, and three things to try: on stdout, or on stderr where
 * stdout is the wire.
 */
export function announce(terminal: Terminal, up: Up): void {
  const { router, addresses, ops, program, example } = up
  const isWire = addresses.includes('stdio:')
  // All at once: whoever reads it may stop reading at the line that it waits for.
  const lines: string[] = []
  const paint: Paint = (text, style) =>
    isWire ? terminal.tint(text, style) : terminal.paint(text, style)
  for (const address of addresses) {
    lines.push(`${paint('Serving', 'bold')} ${paint(address, 'cyan')}`)
  }
  const tools = router.tools()
  // What rules of the configuration keep back is as it should be.
  const hidden = router.hidden().filter(({ what, why }) => what === 'tool' && !isKeptBack(why))
  for (const server of router.servers()) {
    const names = tools.filter(tool => tool.server === server.name).map(({ name }) => name)
    lines.push(`  ${serverLine(paint, server, names.length)}`)
    if (names.length > 0) lines.push(`      ${paint(listed(names), 'dim')}`)
    const [first, ...others] = hidden.filter(entry => entry.server === server.name)
    if (first === undefined) continue
    const unseen = listed([first, ...others].map(({ name }) => oneLine(name, 64)))
    lines.push(`      ${paint('not shown:', 'yellow')} ${unseen} (${first.why})`)
  }
  if (router.servers().length === 0) lines.push('  no servers yet')
  const first = addresses.find(address => address !== 'stdio:')
  if (first !== undefined) {
    const tries = [
      `${program} list ${first}`,
      example === undefined ? `${program} check ${first}` : `${program} call ${first} ${example}`,
      ops === undefined ? `${program} bench ${first}` : `curl ${ops}`,
    ]
    lines.push('', 'To try:', ...tries.map(line => `  ${line}`))
  }
  const text = `${lines.join('\n')}\n`
  if (isWire) terminal.note(text)
  else terminal.line(text)
  terminal.note('Ctrl-C ends it, calls under way first.')
}

/**
 * Names the servers that are still being started, if there are any: fetching a program may take a minute,
 * and what is served is said when all have been tried.
 */
export function noteLate(terminal: Terminal, router: Router, addresses: readonly string[]): void {
  const late = router
    .servers()
    .filter(({ instances }) => instances.some(({ state }) => state === 'starting'))
  if (late.length === 0) return
  const names = oneLine(late.map(({ name }) => name).join(', '), 300)
  terminal.note(`Serving ${addresses.join(', ')}; still being started: ${names}`)
}

type Paint = (text: string, style: Style) => string

/** So many names that a line holds them. */
const mostNames = 8

function listed(names: readonly string[]): string {
  if (names.length <= mostNames) return names.join(', ')
  return `${names.slice(0, mostNames).join(', ')} and ${names.length - mostNames} more`
}

/** One server in one line, with how many of its tools callers see. */
function serverLine(paint: Paint, server: ServerStatus, tools: number): string {
  const { name, level, reason, instances } = server
  const mark = { ok: '✓', degraded: '!', down: '✗' }[level]
  const colour = { ok: 'green', degraded: 'yellow', down: 'red' } as const
  const many = instances.length === 1 ? '' : `, ${instances.length} instances`
  const offers = `${tools} ${tools === 1 ? 'tool' : 'tools'}${many}`
  const words = reason === undefined ? offers : `${offers}: ${oneLine(reason, 200)}`
  return `${paint(mark, colour[level])} ${name} (${words})`
}
