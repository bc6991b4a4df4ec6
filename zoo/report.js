import { environmental } from './checked.js'
import { folder } from './install.js'

/** Returns the page, in Markdown, from the results of each step. */
export function page(all, servers) {
  const parts = [
    head(servers),
    all.servers && serverTable(all.servers, servers),
    all.hosts && hostTable(all.hosts),
    all.files && fileTable(all.files),
    all.figures && figures(all.figures),
    all.check && checkTable(all.check, servers),
  ]
  return `${parts.filter(part => part !== undefined).join('\n\n')}\n`
}

function head(servers) {
  return `# Compatibility

\`npm run zoo -- --write\` writes this page. It runs ${servers.length} published servers behind one \`trunkline up\`, lets
published hosts use it, reads the configuration files of hosts, and runs \`trunkline check\` on each server. The servers
have no network and no valid credentials: an error that the server itself returns counts as an answer.`
}

function serverTable({ value: { names, calls }, ...run }, servers) {
  const rows = servers.map(server => {
    const own = names.session.filter(name => name.startsWith(`${server.name}__`)).length
    return [
      `\`${server.packages[0]}\``,
      own,
      calls.session[server.name],
      calls.stateless[server.name],
    ]
  })
  const good = rows.filter(([, own, ...outcomes]) => own > 0 && !/FAILED|undefined/.test(outcomes))
  return `## Servers

${good.length} of ${servers.length} are listed and answer in both eras. ${made(run)}

${table(['server', 'tools', 'call, session era', 'call, stateless era'], rows)}`
}

function hostTable({ value: hosts, ...run }) {
  const rows = hosts.map(({ host, tools, error }) => [
    host.title,
    `\`${host.packages[0]}\``,
    error === undefined ? (tools ?? 'connects') : 'failed',
    error === undefined
      ? tools === undefined
        ? 'only a model calls tools'
        : 'answered'
      : cell(error),
  ])
  const good = hosts.filter(({ error }) => error === undefined).length
  return `## Hosts

${good} of ${hosts.length} work with two servers behind a router on stdio. ${made(run)}

${table(['host', 'package', 'tools', 'call'], rows)}`
}

function fileTable({ value: files, ...run }) {
  const rows = files.map(({ host, file, servers, invalid, error }) => {
    const problem = error ?? invalid.map(({ name, reason }) => `${name}: ${reason}`).join('; ')
    return [
      host,
      `\`${file.slice(file.indexOf('/') + 1)}\``,
      problem === '' ? servers.length : cell(problem),
    ]
  })
  const good = files.filter(({ servers, invalid, error }) => isAccepted(servers, invalid, error))
  return `## Configuration files

${good.length} of ${files.length} kinds of files are served as they are; [Files of other hosts](host-files.md) says how.
${made(run)}

${table(['host', 'file', 'servers'], rows)}`
}

function isAccepted(servers, invalid, error) {
  return error === undefined && servers.length > 0 && invalid.length === 0
}

function figures({ value: runs, ...run }) {
  const last = runs.at(-1)
  const of = read => runs.map(read)
  const rows = [
    [
      'bare parallel start of the programs',
      range(
        of(({ bareMs }) => bareMs / 1000),
        's',
        1,
      ),
    ],
    [
      'the same behind a router, to a complete first list',
      range(
        of(({ cold }) => cold.ms / 1000),
        's',
        1,
      ),
    ],
    [
      'ratio',
      range(
        of(({ bareMs, cold }) => cold.ms / bareMs),
        '',
        2,
      ),
    ],
    ['tools, size of their list', `${last.cold.tools}, ${(last.cold.bytes / 1e6).toFixed(2)} MB`],
    [
      'all tools, session era',
      range(
        of(({ cold }) => cold.lists.session),
        'ms',
      ),
    ],
    [
      'all tools, stateless era',
      range(
        of(({ cold }) => cold.lists.stateless),
        'ms',
      ),
    ],
    [
      'second start: from the connection to all tools',
      range(
        of(({ warm }) => warm.listMs),
        'ms',
      ),
    ],
    [
      'memory of the router (RSS) after the first list',
      range(
        of(({ cold }) => cold.listedMb),
        'MB',
      ),
    ],
    [`the same after ${last.cold.calls.count} calls`, `${last.cold.calledMb.toFixed(0)} MB`],
    ['calls, 16 at a time', `${last.cold.calls.perSecond.toFixed(0)} per second`],
  ]
  return `## One router

The two starts alternate, ${runs.length} times each; a range is the smallest and the largest value. ${made(run)}

${table(['', ''], rows)}`
}

function checkTable({ value: checks, ...run }, servers) {
  const packageOf = name => servers.find(server => server.name === name)?.packages[0] ?? name
  const found = checks.flatMap(({ name, findings }) =>
    findings.filter(({ habit }) => !habit).map(finding => ({ name, ...finding })),
  )
  const own = found.filter(finding => environmental(finding) === undefined)
  const rows = own.map(({ name, step, status, message }) => [
    `\`${packageOf(name)}\``,
    step,
    status,
    cell(message),
  ])
  const others = found
    .filter(finding => environmental(finding) !== undefined)
    .map(finding => `\`${packageOf(finding.name)}\` (${finding.step}: ${environmental(finding)})`)
  const habits = checks.filter(check => check.habits > 0).length
  const flawless = checks.length - new Set(own.map(({ name }) => name)).size
  const broken = checks.filter(({ error }) => error !== undefined)
  return `## What \`trunkline check\` finds

A failure breaks a rule of the specification; a warning is about what clients stumble over. ${flawless} of ${checks.length} servers
have neither; ${habits} show habits of an official SDK, which are not listed. ${made(run)}

${table(['server', 'step', 'severity', 'finding'], rows)}

Findings that are due to this environment: ${others.join(', ') || 'none'}.${
    broken.length === 0 ? '' : `\n\nNot checked: ${broken.map(({ name }) => name).join(', ')}.`
  }`
}

function made({ date, node, cores }) {
  return `(${date}, Node ${node}, ${cores} cores)`
}

function range(numbers, unit, digits = 0) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)].map(n => n.toFixed(digits))
  return `${low === high ? low : `${low}–${high}`} ${unit}`.trim()
}

function table(header, rows) {
  const line = cells => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}

function cell(text) {
  return String(text ?? '')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    .replaceAll(folder, '…')
    .slice(0, 200)
}
