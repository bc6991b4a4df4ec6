/** Returns the page of a run, in Markdown. */
export function page(results) {
  const parts = [head(results)]
  if (results.routed !== undefined) parts.push(routed(results), serverTable(results))
  if (results.hosts !== undefined) parts.push(hostTable(results))
  if (results.checks !== undefined) parts.push(checkTable(results))
  return `${parts.join('\n\n')}\n`
}

function head({ date, node, cores, servers }) {
  return `# Compatibility

Made by \`npm run zoo -- --write\` on ${date} with Node ${node} on ${cores} cores. ${servers.length} published servers run
behind one \`trunkline up\`; hosts use it over stdio. The servers have no network and no valid credentials: an error that
the server itself returns counts as an answer.`
}

function routed({ bare, routed }) {
  const { allMs, tools, bytes, lists, rssMb, status, warmMs, warmTools } = routed
  const rows = [
    ['start to a complete first list', seconds(allMs)],
    ...(bare === undefined
      ? []
      : [
          ['bare parallel start of the same programs', seconds(bare.ms)],
          ['ratio', (allMs / bare.ms).toFixed(2)],
        ]),
    ['tools, size of the list', `${tools.length}, ${(bytes / 1e6).toFixed(2)} MB`],
    ['all lists, session era', `${lists.session.ms.toFixed(0)} ms`],
    ['all lists, stateless era', `${lists.stateless.ms.toFixed(0)} ms`],
    ['first list of a warm start', `${warmMs.toFixed(0)} ms, ${warmTools} tools`],
    ['memory of the router (RSS)', `${rssMb?.toFixed(0) ?? '?'} MB`],
    ['`/readyz`', status.level ?? status.status],
  ]
  return `## One router\n\n${table(['', ''], rows)}`
}

function serverTable({ servers, routed, missing }) {
  const rows = servers.map(server => {
    const own = routed.tools.filter(name => name.startsWith(`${server.name}__`)).length
    const { session, stateless } = routed.calls
    const state = missing.includes(server) ? 'not installed' : own
    return [`\`${server.packages[0]}\``, state, session[server.name], stateless[server.name]]
  })
  const good = servers.filter(({ name }) =>
    Object.values(routed.calls).every(calls => !/FAILED/.test(calls[name])),
  )
  return `## Servers\n\n${good.length} of ${servers.length} are listed and answer in both eras.

${table(['server', 'tools', 'call, session era', 'call, stateless era'], rows)}`
}

function hostTable({ hosts }) {
  const rows = hosts.map(({ host, tools, error }) => [
    host.title,
    `\`${host.packages[0]}\``,
    error === undefined ? (tools ?? 'connects') : 'failed',
    error === undefined ? (tools === undefined ? 'only a model calls tools' : 'answered') : error,
  ])
  const good = hosts.filter(({ error }) => error === undefined).length
  return `## Hosts\n\n${good} of ${hosts.length} work.\n\n${table(['host', 'package', 'tools', 'call'], rows)}`
}

function checkTable({ checks }) {
  const bySort = new Map()
  for (const { name, findings } of checks) {
    for (const { step, status, message } of findings) {
      const sort = `${step}: ${status}`
      const entry = bySort.get(sort) ?? { servers: new Set(), example: message }
      entry.servers.add(name)
      bySort.set(sort, entry)
    }
  }
  const rows = [...bySort]
    .sort(([, a], [, b]) => b.servers.size - a.servers.size)
    .map(([sort, { servers, example }]) => [sort, servers.size, cell(example)])
  return `## What \`trunkline check\` finds\n\n${table(['step', 'servers', 'an example'], rows)}`
}

function table(header, rows) {
  const line = cells => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}

function cell(text) {
  return String(text ?? '')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    .slice(0, 200)
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}
