import { logLineLevels } from '../../observe/log/line.ts'
import type { Address } from '../../transports.ts'
import type { CommandRow, OptionRow } from './rows.ts'

/** The option of `serve` for each transport, by kind of address. */
const transportOptions: Readonly<Record<Address['kind'], OptionRow>> = {
  stdio: { name: 'stdio', meaning: 'Serve on stdin and stdout (default).' },
  http: {
    name: 'http',
    value: 'PORT',
    aka: ['port', 'p'],
    meaning: 'Serve HTTP and WebSocket on a port or `host:port`.',
  },
  websocket: {
    name: 'ws',
    value: 'PORT',
    meaning: 'Serve only WebSocket on a port or `host:port`.',
  },
  tcp: { name: 'tcp', value: 'PORT', meaning: 'Serve on a TCP port or `host:port`.' },
  unix: { name: 'unix', value: 'PATH', meaning: 'Serve on a Unix socket.' },
  pipe: { name: 'pipe', value: 'NAME', meaning: 'Serve on a Windows named pipe.' },
}

const keysOption: OptionRow = {
  name: 'keys',
  value: 'FILE',
  meaning:
    'Read the keys that seal request state and cursors, the newest first; else from `TRUNKLINE_KEYS`.',
}

const devAuthOption: OptionRow = {
  name: 'dev-auth',
  optional: 'USERS',
  meaning:
    'Require authorization by an authorization server for development, which runs beside it and logs anybody on this machine in as one of the users: `ada:admin,bob` by default, where `admin` is a role.',
}

/** The options of a node of a cluster. */
const clusterOptions: readonly OptionRow[] = [
  {
    name: 'cluster',
    value: 'ENGINE',
    meaning:
      'Share sessions with the other nodes that use the same engine: `redis://host:6379`, `nats://host:4222`, or `sqlite:FILE` on one machine; else from `TRUNKLINE_CLUSTER`. Nodes on several machines need the same `TRUNKLINE_CLUSTER_SECRET`.',
  },
  {
    name: 'node',
    value: 'NAME',
    meaning: 'Name of this node in its cluster; by default the host and the process.',
  },
]

const workersOption: OptionRow = {
  name: 'workers',
  value: 'N',
  meaning:
    'Serve in this many processes, which share addresses and sessions, because Node uses one core per process: a number up to 64, or `auto` for one per core.',
}

const serverName: OptionRow = {
  name: 'name',
  value: 'NAME',
  meaning: 'Name of the server in the file; default `trunkline`.',
}

const projectFile: OptionRow = {
  name: 'project',
  meaning: 'Edit the file of the project in this folder, instead of that of the user.',
}

const dryRun: OptionRow = { name: 'dry-run', meaning: 'Only print what would change.' }

/** The commands that serve, and those for configuration files and pins. */
export const servingCommands: readonly CommandRow[] = [
  {
    name: 'up',
    aka: ['start', 'proxy', 'router', 'gateway'],
    operands: '[CONFIG…]',
    summary:
      'Serve all configured servers behind one address; without a configuration, two demo servers.',
    options: [
      {
        name: 'listen',
        value: 'ADDRESS',
        many: true,
        meaning: 'Address to listen on, instead of those in the configuration.',
      },
      {
        name: 'http',
        value: 'PORT',
        aka: ['port', 'p'],
        meaning:
          'Listen on this port or `host:port`: short for `--listen http://127.0.0.1:PORT/mcp`.',
      },
      {
        name: 'view',
        value: 'NAME',
        meaning: 'Serve only this view of the configuration: some of its servers and tools.',
      },
      {
        name: 'metrics',
        value: 'ADDRESS',
        meaning: 'Separate address for `/metrics`, `/healthz` and `/readyz`.',
      },
      {
        name: 'console',
        optional: 'ADDRESS',
        meaning:
          'Serve the console, a page that shows what the router does: at `/console/` of its addresses, or at a separate one. On a terminal it is served by default.',
      },
      { name: 'no-console', meaning: 'Serve no console.' },
      {
        name: 'tls-cert',
        value: 'FILE',
        meaning:
          'Certificate for `https:` and `wss:` addresses, in PEM form; read again on SIGHUP.',
      },
      { name: 'tls-key', value: 'FILE', meaning: 'Private key of the certificate.' },
      {
        name: 'lame-duck',
        value: 'TIME',
        meaning:
          'Time for which `/readyz` returns 503 before connections are refused, when shutting down: `5s`.',
      },
      {
        name: 'log-level',
        value: 'LEVEL',
        choices: logLineLevels,
        meaning: 'Minimum level of log lines on stderr.',
      },
      {
        name: 'cache',
        value: 'FILE',
        meaning:
          'Remember the lists of servers in this file, to answer before they have started. By default `trunkline/lists.json` in `$XDG_CACHE_HOME` or `~/.cache`.',
      },
      { name: 'no-cache', meaning: 'Remember no lists.' },
      {
        name: 'pins',
        value: 'FILE',
        meaning:
          'Store tool definitions in a file, to detect changes across restarts; `trunkline pins` approves them.',
      },
      {
        name: 'policy',
        value: 'FILE',
        meaning:
          'Access policy, instead of that in the configuration; read again when it changes. Requires `auth`.',
      },
      {
        name: 'audit',
        value: 'FILE',
        meaning:
          'Record every decision on a call in this file; `trunkline audit verify` checks it.',
      },
      keysOption,
      ...clusterOptions,
      workersOption,
      devAuthOption,
      { name: 'public', meaning: 'Allow access from other machines, without authentication.' },
      { name: 'demo', meaning: 'Serve two demo servers, and ignore any configuration.' },
      {
        name: 'hosts',
        value: 'SCOPE',
        choices: ['project', 'user', 'all'],
        meaning:
          'Serve the servers of all hosts whose files are found: in this folder, of the user, or both. `trunkline hosts` lists them.',
      },
      {
        name: 'strict',
        meaning:
          'Reject a file with an invalid server. By default the other servers are served, and the invalid one is shown with the reason.',
      },
      {
        name: 'dry-run',
        meaning: 'Only validate the configuration, and print problems or what would be served.',
      },
    ],
    examples: [
      'trunkline up',
      'trunkline up servers.jsonc --http 8080',
      'trunkline up --listen stdio:',
    ],
  },
  {
    name: 'hosts',
    operands: '',
    maxOperands: 0,
    summary: 'Show the configuration files of hosts that are found, and their servers.',
    options: [],
    examples: ['trunkline hosts', 'trunkline up --hosts project'],
  },
  {
    name: 'install',
    operands: 'HOST [CONFIG…] [-- COMMAND…]',
    summary:
      'Write the router of some files, or a given server, into the configuration file of a host.',
    options: [
      serverName,
      { name: 'url', value: 'URL', meaning: 'Write this address instead of a program.' },
      projectFile,
      { name: 'force', meaning: 'Replace another server of the same name.' },
      dryRun,
    ],
    examples: [
      'trunkline install cursor servers.json',
      'trunkline install claude-desktop --name weather -- node /srv/weather.js',
      'trunkline install vscode --project --url http://127.0.0.1:3000/mcp --dry-run',
    ],
  },
  {
    name: 'uninstall',
    operands: 'HOST',
    maxOperands: 1,
    summary: 'Remove what `install` wrote; everything else in the file stays as it is.',
    options: [serverName, projectFile, dryRun],
    examples: ['trunkline uninstall cursor'],
  },
  {
    name: 'cluster',
    aka: ['nodes'],
    operands: '[ENGINE] [drain NODE | keys rotate]',
    maxOperands: 3,
    summary:
      'List the nodes of a cluster, and how many sessions each has. `drain` makes a node hand its sessions to the others and end; `keys rotate` replaces the key that seals the state of requests.',
    options: [],
    examples: [
      'trunkline cluster redis://10.0.0.9:6379',
      'trunkline cluster redis://10.0.0.9:6379 drain web-2',
      'trunkline cluster redis://10.0.0.9:6379 keys rotate',
      'trunkline cluster sqlite:./state.db --json',
    ],
  },
  {
    name: 'pins',
    operands: 'FILE',
    summary: 'Show tools whose definition has changed, and approve them.',
    options: [
      {
        name: 'approve',
        value: 'SERVER/TOOL',
        many: true,
        meaning:
          'Approve the current definition of this tool; `SERVER/TOOL@DIGEST` only if it still has this digest.',
      },
      { name: 'approve-all', meaning: 'Approve the current definition of every changed tool.' },
    ],
    examples: [
      'trunkline pins pins.json',
      'trunkline pins pins.json --approve mail/send@3f9a2c417b06',
    ],
  },
  {
    name: 'serve',
    aka: ['run', 'dev'],
    operands: 'FILE [ADDRESS…] [-- ARGUMENT…]',
    summary: 'Run a file that exports a server, or that calls `serve` itself.',
    options: [
      { name: 'watch', meaning: 'Restart when a source file in its folder changes.' },
      ...Object.values(transportOptions),
      {
        name: 'auth',
        value: 'FILE',
        meaning: 'Authenticate callers as this file says: a JSON object with the fields of `auth`.',
      },
      devAuthOption,
      keysOption,
      workersOption,
    ],
    examples: [
      'trunkline serve weather.js',
      'trunkline serve weather.js --http 3000 --watch',
      'trunkline serve weather.js --http 3000 --workers auto',
      'trunkline serve weather.js tcp://127.0.0.1:4000 unix:/tmp/weather.sock',
    ],
  },
]
