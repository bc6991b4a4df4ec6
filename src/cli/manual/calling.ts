import type { CommandRow, OptionRow } from './rows.ts'

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
    name: 'auth',
    value: 'HOW',
    choices: ['stored', 'none'],
    meaning:
      'Authorization of requests over HTTP: `stored` uses the tokens of `trunkline login`, which is the default where a login is stored; `none` uses none.',
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

/** The commands that connect to one server. */
export const callingCommands: readonly CommandRow[] = [
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
    name: 'types',
    operands: 'TARGET',
    summary: 'Write TypeScript interfaces of the tools and prompts of a server.',
    hasTarget: true,
    options: [
      {
        name: 'output',
        short: 'o',
        value: 'FILE',
        meaning: 'Write the interfaces to a file, for `connect<Tools, Prompts>`.',
      },
      ...targetOptions,
    ],
    examples: ['trunkline types --output weather.ts -- node weather.js'],
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
]
