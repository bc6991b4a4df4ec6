import { unknownCommand } from '../arguments.ts'
import { exitCodes } from '../exit.ts'
import { overview, page } from '../help.ts'
import type { Run } from '../invocation.ts'
import { commandNamed, commands } from '../manual/manual.ts'

/** `trunkline help`: prints the overview, or the help of one command. */
export const run: Run = async ({ input, terminal }) => {
  const [name] = input.operands
  const command = name === undefined ? undefined : commandNamed(name)
  if (name !== undefined && command === undefined) throw unknownCommand(name)
  if (input.has('json')) terminal.json(command ?? commands)
  else terminal.line(command === undefined ? overview() : page(command))
  return exitCodes.ok
}
