import { authorizationCommands } from './authorization.ts'
import { callingCommands } from './calling.ts'
import type { CommandRow, OptionRow } from './rows.ts'
import { servingCommands } from './serving.ts'

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

/** Every command, in the order of the help. */
export const commands: readonly CommandRow[] = [
  ...servingCommands,
  ...callingCommands,
  ...authorizationCommands,
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
