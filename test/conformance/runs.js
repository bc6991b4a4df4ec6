// The runs of the suite: every scenario of both generations.
// Routers stand before the same server that is also tested alone.

const onServer = (name, suite, scenarios, ...args) => ({
  side: 'server',
  name: `server, suite ${suite}, ${name}`,
  suite,
  scenarios,
  args,
})

const onRouter = (behind, { name, ...run }, ...except) => ({
  ...run,
  name: name.replace('server', `router before ${behind}`),
  behind: [behind],
  // There a server closes a stream to be polled; behind a router that is not the stream of the caller.
  except: ['server-server-sse-polling', ...except],
})

const onCluster = ({ name, ...run }) => ({
  ...run,
  name: name.replace('server', 'three nodes behind a balancer'),
  behind: ['cluster'],
})

// Scenarios of an extension belong to no revision: they must be forced.
const forced = scenario => (scenario.startsWith('sep-2640') ? ['--force'] : [])

const onClient = (suite, scenario, revision) => ({
  side: 'client',
  name: `client, suite ${suite}, ${[scenario, revision].filter(Boolean).join(', ')}`,
  suite,
  scenarios: 1,
  // This version checks how late a client is: on a busy machine one attempt says nothing.
  retries: suite === '0.1' && scenario === 'sse-retry' ? 3 : 0,
  args: [
    '--scenario',
    scenario,
    ...(revision === undefined ? [] : ['--spec-version', revision, ...forced(scenario)]),
  ],
})

// Many scenarios of a client at once: loading the suite takes longer than a scenario.
const onClients = (name, suite, scenarios, ...args) => ({
  side: 'client',
  name: `client, suite ${suite}, ${name}`,
  suite,
  scenarios,
  // Scenarios have limits of seconds: on a busy machine one attempt says nothing.
  retries: 3,
  args: ['--suite', ...args],
})

const inSessions = ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry']
const skillsOf = ['enumeration', 'directory', 'manifest'].map(part => {
  const scenario = `sep-2640-skills-${part}`
  const args = ['--scenario', scenario, '--spec-version', '2026-07-28', ...forced(scenario)]
  return onServer(scenario, '0.2', 1, ...args)
})
const skills = [
  'sep-2640-client-no-prefetch',
  'sep-2640-client-verify-digest',
  'sep-2640-client-verify-size',
  'sep-2640-client-verify-frontmatter',
]
const late = 'json-schema-2020-12-preservation'

const first = onServer('everything', '0.1', 32, '--suite', 'all')
const session = onServer('2025-11-25', '0.2', 33, '--requirements', '2025-11-25')
const single = {
  ...onServer('2026-07-28', '0.2', 50, '--requirements', '2026-07-28'),
  // The suite reads each stream for one second: on a busy machine one attempt says nothing.
  retries: 3,
}

const routed = [
  { ...onRouter('2025-11-25', first), isLong: true },
  { ...onRouter('2026-07-28', first), isLong: true },
  { ...onRouter('2025-11-25', session), isLong: true },
  { ...onRouter('2026-07-28', single), isLong: true },
  ...skillsOf.map(run => onRouter('2026-07-28', run)),
  // Each era in front of the other.
  onRouter('2026-07-28', session),
  onRouter(
    '2025-11-25',
    single,
    // The suite expects input request keys chosen by the server, which has none to choose in sessions.
    'server-input-required-result-basic-elicitation',
    'server-input-required-result-ignore-extra-params',
    // Nor can the server send a request there before the call becomes a task.
    'server-tasks-mrtr-composition',
  ),
]

const clustered = [
  { ...onCluster(session), isLong: true },
  // A tool of the server that the suite uses changes the tools of its own node alone.
  { ...onCluster(single), isLong: true, except: ['server-tools-list'] },
]

export const runs = [
  first,
  onServer('2025-03-26', '0.2', 1, '--suite', 'all', '--spec-version', '2025-03-26'),
  onServer('2025-06-18', '0.2', 27, '--suite', 'all', '--spec-version', '2025-06-18'),
  session,
  single,
  ...skillsOf,
  ...routed,
  ...clustered,
  ...inSessions.map(scenario => onClient('0.1', scenario)),
  onClients('authorization', '0.1', 14, 'auth'),
  onClients('authorization in 2025-03-26', '0.1', 2, 'backcompat'),
  onClients('authorization in drafts', '0.1', 3, 'draft'),
  onClients('extensions', '0.1', 3, 'extensions'),
  // In 2025-11-25 the first suite runs the scenarios about authorization.
  ...[...inSessions, late].map(scenario => onClient('0.2', scenario, '2025-11-25')),
  onClients('2026-07-28', '0.2', 33, 'all', '--spec-version', '2026-07-28'),
  onClients('2025-03-26', '0.2', 2, 'all', '--spec-version', '2025-03-26'),
  onClients('extensions', '0.2', 6, 'extensions'),
  ...skills.map(scenario => onClient('0.2', scenario, '2026-07-28')),
]
