import { resolve } from 'node:path'
import { exitCodes, UsageError } from '../exit.ts'
import { withoutServer, withServer } from '../hosts/edit/edit.ts'
import { entryOf, type InstalledServer } from '../hosts/edit/entry.ts'
import { readHostFile, writeHostFile } from '../hosts/host-file.ts'
import type { Invocation, Run } from '../invocation.ts'
import { findConfig } from '../target/config-file.ts'

/** `trunkline install`: writes the router, or a given server, into the configuration file of a host. */
export const run: Run = async invocation => {
  const { input, terminal } = invocation
  const file = await readHostFile(invocation)
  const name = input.value('name') ?? 'trunkline'
  const server = await serverOf(invocation, file.path)
  const rest = withoutServer(file.text, file, name)
  const after = withServer(rest ?? file.text, file, name, entryOf(file.host.form, name, server))
  if (after === file.text) {
    terminal.line(`${file.path} has ${name} already`)
    return exitCodes.ok
  }
  if (rest !== undefined && !input.has('force')) {
    throw new UsageError(
      `${file.path} has another server "${name}"; use --force to replace it, or --name`,
    )
  }
  await writeHostFile(invocation, file, after)
  if (!input.has('dry-run')) {
    terminal.line(`${file.path}: added ${name}; restart ${file.host.title} to use it`)
  }
  return exitCodes.ok
}

/** Returns the server that the command line describes: a program, an address, or the router of some files. */
async function serverOf({ input }: Invocation, path: string): Promise<InstalledServer> {
  const { program, operands } = input
  const url = input.value('url')
  const [, ...configs] = operands
  if ([program, url, configs[0]].filter(one => one !== undefined).length > 1) {
    throw new UsageError('use only one of --url, a program after "--", and configuration files')
  }
  if (url !== undefined) {
    if (URL.canParse(url) && /^https?:/i.test(url)) return { url }
    throw new UsageError(`--url must be an HTTP address (got "${url}")`)
  }
  if (program !== undefined) {
    const [command, ...args] = program
    if (command === undefined) throw new UsageError('missing program after "--"')
    return { command, args }
  }
  const files = (configs.length > 0 ? configs : [await findConfig(undefined)]).map(one =>
    resolve(one),
  )
  if (files.includes(resolve(path))) {
    throw new UsageError(
      `${path} cannot be served by a router that is installed in it; name another file`,
    )
  }
  const [command = 'npx', ...args] = ownCommand()
  return { command, args: [...args, 'up', ...files, '--listen', 'stdio:'] }
}

/** The command that starts this program for as long as it is installed: a cache of npx may be emptied. */
function ownCommand(): readonly string[] {
  const script = process.argv[1] ?? ''
  const isKept = script !== '' && !/[\\/]_npx[\\/]/.test(script)
  return isKept ? [process.execPath, resolve(script)] : ['npx', '-y', 'trunkline']
}
