import { logLineLevels } from '../observe/log/line.ts'

/** One option of a command. */
export interface OptionRow {
  /** Long name without dashes. */
  readonly name: string
  /** One-letter name. */
  readonly short?: string
  /** Placeholder of the value; absent for a flag. */
  readonly value?: string
  /** Whether the option can be repeated. */
  readonly many?: boolean
  /** Names under which users look for it; they get it as a suggestion. */
  readonly aka?: readonly string[]
  /** The allowed values; absent if any value is allowed. */
  readonly choices?: readonly string[]
  readonly meaning: string
}

/** One command, for the help, the parser and the completion scripts. */
export interface CommandRow {
  readonly name: string
  /** Names under which users look for it; they get it as a suggestion. */
  readonly aka?: readonly string[]
  /** Synopsis of the operands. */
  readonly operands: string
  readonly summary: string
  /** Maximum number of operands; unlimited by default. */
  readonly maxOperands?: number
  /** Whether the arguments of a tool or prompt may follow as `--name value`. */
  readonly takesArguments?: boolean
  /** Whether the first operand is a server to connect to. */
  readonly hasTarget?: boolean
  readonly options: readonly OptionRow[]
  readonly examples: readonly string[]
}

/** Options of every command. */
export const generalOptions: readonly OptionRow[] = [
  { name: 'json', meaning: 'Print one JSON document to stdout.' },
  { name: 'quiet', short: 'q', meaning: 'Print only results and errors.' },
  {
    name: 'verbose',
    short: 'v',
    meaning: 'Print every protocol message, and the stderr of a started program, to stderr.',
  },
  { name: 'no-color', meaning: 'Disable colors; the environment variable NO_COLOR does the same.' },
  { name: 'help', short: 'h', meaning: 'Show the help of the command.' },
]

const targetOptions: readonly OptionRow[] = [
  {
    name: 'timeout',
    value: 'TIME',
    meaning:
      'Time to wait for a response or the next progress notification: `30s`, `500ms`, `2m`; a plain number is in seconds.',
  },
  {
    name: 'header',
    value: 'HEADER',
    many: true,
    meaning: 'HTTP or WebSocket header: `"Authorization: Bearer …"`.',
  },
  {
    name: 'era',
    value: 'ERA',
    choices: ['auto', 'session', 'stateless'],
    meaning: 'Protocol era to use; `auto` detects it.',
  },
  {
    name: 'revision',
    value: 'DATE',
    many: true,
    meaning: 'Use only this protocol version (revision).',
  },
  {
    name: 'env',
    value: 'NAME=VALUE',
    many: true,
    meaning: 'Environment variable for the started program.',
  },
  { name: 'cwd', value: 'FOLDER', meaning: 'Working folder of the started program.' },
  {
    name: 'framing',
    value: 'NAME',
    choices: ['lines', 'length', 'headers'],
    meaning: 'Message framing on a pipe or socket; default `lines`.',
  },
  { name: 'config', value: 'FILE', meaning: 'Configuration file to look up server names in.' },
]

const argsOption: OptionRow = {
  name: 'args',
  value: 'JSON',
  meaning: 'Arguments as a JSON object; `@FILE` reads a file, `-` reads stdin.',
}

/** Every command, in the order of the help. */
export const commands: readonly CommandRow[] = [
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
        name: 'keys',
        value: 'FILE',
        meaning:
          'Read the keys that seal request state and cursors, the newest first; else from `TRUNKLINE_KEYS`.',
      },
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
      {
        name: 'name',
        value: 'NAME',
        meaning: 'Name of the server in the file; default `trunkline`.',
      },
      { name: 'url', value: 'URL', meaning: 'Write this address instead of a program.' },
      {
        name: 'project',
        meaning: 'Edit the file of the project in this folder, instead of that of the user.',
      },
      { name: 'force', meaning: 'Replace another server of the same name.' },
      { name: 'dry-run', meaning: 'Only print what would change.' },
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
    options: [
      {
        name: 'name',
        value: 'NAME',
        meaning: 'Name of the server in the file; default `trunkline`.',
      },
      {
        name: 'project',
        meaning: 'Edit the file of the project in this folder, instead of that of the user.',
      },
      { name: 'dry-run', meaning: 'Only print what would change.' },
    ],
    examples: ['trunkline uninstall cursor'],
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
      { name: 'stdio', meaning: 'Serve on stdin and stdout (default).' },
      {
        name: 'http',
        value: 'PORT',
        aka: ['port', 'p'],
        meaning: 'Serve HTTP and WebSocket on a port or `host:port`.',
      },
      { name: 'ws', value: 'PORT', meaning: 'Serve only WebSocket on a port or `host:port`.' },
      { name: 'tcp', value: 'PORT', meaning: 'Serve on a TCP port or `host:port`.' },
      { name: 'unix', value: 'PATH', meaning: 'Serve on a Unix socket.' },
      { name: 'pipe', value: 'NAME', meaning: 'Serve on a Windows named pipe.' },
      {
        name: 'keys',
        value: 'FILE',
        meaning:
          'Read the keys that seal request state and cursors, the newest first; else from `TRUNKLINE_KEYS`.',
      },
    ],
    examples: [
      'trunkline serve weather.js',
      'trunkline serve weather.js --http 3000 --watch',
      'trunkline serve weather.js tcp://127.0.0.1:4000 unix:/tmp/weather.sock',
    ],
  },
  {
    name: 'list',
    aka: ['ls', 'tools', 'show', 'resources', 'prompts'],
    operands: 'TARGET [tools|resources|templates|prompts]…',
    summary: 'Show a server, its tools, resources and prompts.',
    hasTarget: true,
    options: targetOptions,
    examples: [
      'trunkline list http://127.0.0.1:3000/mcp',
      'trunkline list tools --json -- node weather.js',
    ],
  },
  {
    name: 'call',
    aka: ['exec', 'invoke', 'tool'],
    operands: 'TARGET TOOL [name=value…] [--name value…] [name:=json…] [{…}] [-]',
    summary: 'Call a tool.',
    hasTarget: true,
    takesArguments: true,
    options: [argsOption, ...targetOptions],
    examples: [
      'trunkline call http://127.0.0.1:3000/mcp forecast city=Oslo --days 3',
      'trunkline call add --args \'{"a":1,"b":2}\' -- node calculator.js',
      'trunkline call files read_file path=/etc/hosts',
    ],
  },
  {
    name: 'read',
    aka: ['get', 'cat', 'resource'],
    operands: 'TARGET URI',
    summary: 'Read a resource.',
    hasTarget: true,
    options: [
      {
        name: 'output',
        short: 'o',
        value: 'FILE',
        meaning: 'Write the content to a file, binary data as is.',
      },
      ...targetOptions,
    ],
    examples: ['trunkline read http://127.0.0.1:3000/mcp file:///etc/app.json'],
  },
  {
    name: 'prompt',
    operands: 'TARGET PROMPT [name=value…] [--name value…]',
    summary: 'Get a prompt with arguments.',
    hasTarget: true,
    takesArguments: true,
    options: [argsOption, ...targetOptions],
    examples: ['trunkline prompt review language=TypeScript -- node prompts.js'],
  },
  {
    name: 'check',
    aka: ['test', 'inspect', 'lint', 'validate', 'doctor'],
    operands: 'TARGET',
    summary: 'Check step by step whether a server follows the protocol.',
    hasTarget: true,
    options: [
      {
        name: 'call',
        value: 'TOOL',
        meaning: 'Also call this tool. By default no tool is called.',
      },
      {
        name: 'ignore',
        value: 'STEP',
        many: true,
        meaning: 'Run this step, but do not count its outcome.',
      },
      argsOption,
      ...targetOptions,
    ],
    examples: [
      'trunkline check https://example.com/mcp --ignore http',
      'trunkline check --call add --args \'{"a":1,"b":2}\' -- node calculator.js',
    ],
  },
  {
    name: 'bench',
    operands: 'TARGET',
    summary: 'Measure throughput and latency of a server.',
    hasTarget: true,
    options: [
      {
        name: 'tool',
        value: 'TOOL',
        meaning: 'Call this tool; default `ping`, or `tools/list` if `ping` is not supported.',
      },
      argsOption,
      {
        name: 'seconds',
        value: 'NUMBER',
        meaning: 'Duration of the measurement in seconds; default 5.',
      },
      {
        name: 'concurrency',
        value: 'NUMBER',
        meaning: 'Number of calls in flight; default 8.',
      },
      ...targetOptions,
    ],
    examples: [
      'trunkline bench --tool add --args \'{"a":1,"b":2}\' --seconds 10 -- node calculator.js',
    ],
  },
  {
    name: 'completion',
    operands: 'bash|zsh|fish',
    maxOperands: 2,
    summary:
      'Print a shell completion script for commands, options, and names of servers and tools.',
    options: [],
    examples: ['source <(trunkline completion bash)', 'trunkline completion fish | source'],
  },
  {
    name: 'demo',
    operands: 'text|clock',
    maxOperands: 1,
    summary: 'Serve one of the demo servers of `up` on stdin and stdout.',
    options: [],
    examples: ['trunkline list -- trunkline demo clock'],
  },
  {
    name: 'help',
    operands: '[COMMAND]',
    maxOperands: 1,
    summary: 'Show the help of a command.',
    options: [],
    examples: ['trunkline help check'],
  },
]

/** Returns the command with this name. */
export function commandNamed(name: string): CommandRow | undefined {
  return commands.find(command => command.name === name)
}

/** Returns all options of a command, its own first. */
export function optionsOf(command: CommandRow): readonly OptionRow[] {
  return [...command.options, ...generalOptions]
}
