import { logLevels } from '../observe/log/line.ts'

/** One option of a command. */
export interface OptionRow {
  /** Its long name, without dashes. */
  readonly name: string
  /** One letter. */
  readonly short?: string
  /** What is to be given with it; absent for a switch. */
  readonly value?: string
  /** Whether it may be given several times. */
  readonly many?: boolean
  /** The only values there are. */
  readonly choices?: readonly string[]
  readonly meaning: string
}

/** One command, as the manual, the parser and the completion scripts see it. */
export interface CommandRow {
  readonly name: string
  /** What follows the name. */
  readonly operands: string
  readonly summary: string
  /** How many operands it takes at most; any number unless said. */
  readonly mostOperands?: number
  /** Whether its first operand is a server to talk to. */
  readonly hasTarget?: boolean
  readonly options: readonly OptionRow[]
  readonly examples: readonly string[]
}

/** What every command takes. */
export const generalOptions: readonly OptionRow[] = [
  { name: 'json', meaning: 'Print one JSON document on stdout.' },
  { name: 'quiet', short: 'q', meaning: 'Print nothing but results and failures.' },
  {
    name: 'verbose',
    short: 'v',
    meaning: 'Show every message and the error output of a program on stderr.',
  },
  { name: 'no-color', meaning: 'No colours; so does NO_COLOR in the environment.' },
  { name: 'help', short: 'h', meaning: 'Show how the command is used.' },
]

const targetOptions: readonly OptionRow[] = [
  {
    name: 'timeout',
    value: 'TIME',
    meaning:
      'How long to wait for an answer, or for the next progress: `30s`, `500ms`, `2m`; a plain number is seconds.',
  },
  {
    name: 'header',
    value: 'HEADER',
    many: true,
    meaning: 'A header for HTTP and WebSockets: `"Authorization: Bearer …"`.',
  },
  {
    name: 'era',
    value: 'ERA',
    choices: ['auto', 'session', 'stateless'],
    meaning: 'Insist on an era instead of finding out.',
  },
  {
    name: 'revision',
    value: 'DATE',
    many: true,
    meaning: 'Speak only this revision of the protocol.',
  },
  {
    name: 'env',
    value: 'NAME=VALUE',
    many: true,
    meaning: 'An environment variable for the program that is started.',
  },
  { name: 'cwd', value: 'FOLDER', meaning: 'Where the program is started.' },
  {
    name: 'framing',
    value: 'NAME',
    choices: ['lines', 'length', 'headers'],
    meaning: 'How messages are told apart on a pipe or socket; `lines` unless said.',
  },
  { name: 'config', value: 'FILE', meaning: 'The file in which a name of a server is looked up.' },
]

const argsOption: OptionRow = {
  name: 'args',
  value: 'JSON',
  meaning: 'Arguments as a JSON object, as `@FILE`, or as `-` for stdin.',
}

/** Every command there is, in the order of the manual. */
export const commands: readonly CommandRow[] = [
  {
    name: 'up',
    operands: '[CONFIG]',
    mostOperands: 1,
    summary: 'Put servers behind one address; without a configuration, two to try.',
    options: [
      {
        name: 'listen',
        value: 'ADDRESS',
        many: true,
        meaning: 'Where to serve, instead of where the configuration says.',
      },
      {
        name: 'metrics',
        value: 'ADDRESS',
        meaning: 'Serve `/metrics`, `/healthz` and `/readyz` at an address of their own.',
      },
      {
        name: 'log-level',
        value: 'LEVEL',
        choices: logLevels,
        meaning: 'The least severe lines that are written to stderr.',
      },
      {
        name: 'pins',
        value: 'FILE',
        meaning:
          'Keep in a file how tools were first seen, so that changes show over restarts; `trunkline pins` approves them.',
      },
      { name: 'public', meaning: 'Let other machines in, though nobody is asked who they are.' },
      { name: 'demo', meaning: 'Two servers to try, whatever configuration there is.' },
      {
        name: 'dry-run',
        meaning:
          'Only read the configuration, and say what is wrong with it or what would be served.',
      },
    ],
    examples: [
      'trunkline up',
      'trunkline up servers.jsonc --listen http://127.0.0.1:8080/mcp',
      'trunkline up --listen stdio:',
    ],
  },
  {
    name: 'pins',
    operands: 'FILE',
    summary: 'Show tools that are no longer what they were, and approve them.',
    options: [
      {
        name: 'approve',
        value: 'SERVER/TOOL',
        many: true,
        meaning:
          'Let callers have this tool as it is now; `SERVER/TOOL@DIGEST` only if it is still the one that was shown.',
      },
      { name: 'approve-all', meaning: 'The same for every tool that is shown.' },
    ],
    examples: [
      'trunkline pins pins.json',
      'trunkline pins pins.json --approve mail/send@3f9a2c417b06',
    ],
  },
  {
    name: 'serve',
    operands: 'FILE [ADDRESS…] [-- ARGUMENT…]',
    summary: 'Run a file that exports a server, or serves by itself.',
    options: [
      { name: 'watch', meaning: 'Start again when a file beside it changes.' },
      { name: 'stdio', meaning: 'Serve on standard input and output, which is the default.' },
      {
        name: 'http',
        value: 'PORT',
        meaning: 'Serve HTTP, with WebSockets, on a port or `host:port`.',
      },
      { name: 'ws', value: 'PORT', meaning: 'Serve WebSockets alone.' },
      { name: 'tcp', value: 'PORT', meaning: 'Serve on a TCP port.' },
      { name: 'unix', value: 'PATH', meaning: 'Serve on a Unix socket.' },
      { name: 'pipe', value: 'NAME', meaning: 'Serve on a named pipe of Windows.' },
    ],
    examples: [
      'trunkline serve weather.js',
      'trunkline serve weather.js --http 3000 --watch',
      'trunkline serve weather.js tcp://127.0.0.1:4000 unix:/tmp/weather.sock',
    ],
  },
  {
    name: 'list',
    operands: 'TARGET [tools|resources|templates|prompts]',
    summary: 'Show what a server is and what it offers.',
    hasTarget: true,
    options: targetOptions,
    examples: [
      'trunkline list http://127.0.0.1:3000/mcp',
      'trunkline list tools --json -- node weather.js',
    ],
  },
  {
    name: 'call',
    operands: 'TARGET TOOL [name=value…] [name:=json…] [-]',
    summary: 'Call a tool.',
    hasTarget: true,
    options: [argsOption, ...targetOptions],
    examples: [
      'trunkline call http://127.0.0.1:3000/mcp forecast city=Oslo days=3',
      'trunkline call add --args \'{"a":1,"b":2}\' -- node calculator.js',
      'trunkline call files read_file path=/etc/hosts',
    ],
  },
  {
    name: 'read',
    operands: 'TARGET URI',
    summary: 'Read a resource.',
    hasTarget: true,
    options: [
      {
        name: 'output',
        short: 'o',
        value: 'FILE',
        meaning: 'Write what was read to a file, bytes as bytes.',
      },
      ...targetOptions,
    ],
    examples: ['trunkline read http://127.0.0.1:3000/mcp file:///etc/app.json'],
  },
  {
    name: 'prompt',
    operands: 'TARGET PROMPT [name=value…]',
    summary: 'Get a prompt, filled in.',
    hasTarget: true,
    options: [argsOption, ...targetOptions],
    examples: ['trunkline prompt review language=TypeScript -- node prompts.js'],
  },
  {
    name: 'check',
    operands: 'TARGET',
    summary: 'Find out whether a server is right, step by step.',
    hasTarget: true,
    options: [
      {
        name: 'call',
        value: 'TOOL',
        meaning: 'Call this tool too. Without it no tool is ever called.',
      },
      argsOption,
      ...targetOptions,
    ],
    examples: [
      'trunkline check https://example.com/mcp',
      'trunkline check --call add --args \'{"a":1,"b":2}\' -- node calculator.js',
    ],
  },
  {
    name: 'bench',
    operands: 'TARGET',
    summary: 'Measure how many calls a server answers, and how fast.',
    hasTarget: true,
    options: [
      {
        name: 'tool',
        value: 'TOOL',
        meaning: 'Call this tool; without it `ping`, or a list where there is none.',
      },
      argsOption,
      { name: 'seconds', value: 'NUMBER', meaning: 'How long to measure; 5 unless said.' },
      {
        name: 'concurrency',
        value: 'NUMBER',
        meaning: 'Calls under way at one time; 8 unless said.',
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
    mostOperands: 1,
    summary: 'Print a script that completes commands, options and names of servers.',
    options: [],
    examples: ['source <(trunkline completion bash)', 'trunkline completion fish | source'],
  },
  {
    name: 'demo',
    operands: 'text|clock',
    mostOperands: 1,
    summary: 'Serve one of the servers that `up` shows, on standard input and output.',
    options: [],
    examples: ['trunkline list -- trunkline demo clock'],
  },
  {
    name: 'help',
    operands: '[COMMAND]',
    mostOperands: 1,
    summary: 'Show how a command is used.',
    options: [],
    examples: ['trunkline help check'],
  },
]

/** The command of this name. */
export function commandNamed(name: string): CommandRow | undefined {
  return commands.find(command => command.name === name)
}

/** Every option that a command takes, its own first. */
export function optionsOf(command: CommandRow): readonly OptionRow[] {
  return [...command.options, ...generalOptions]
}
