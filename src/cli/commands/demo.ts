import { serve } from '../../serve.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { demoServers } from '../up/demo-servers.ts'

/** Serves one of the servers that `up` shows where there is no configuration, to whoever started it. */
export const run: Run = async ({ input }) => {
  const [name = ''] = input.operands
  const make = demoServers.get(name)
  if (make === undefined) {
    throw new UsageError(`a server is needed: one of ${[...demoServers.keys()].join(', ')}`)
  }
  const serving = await serve(make(), { addresses: ['stdio:'] })
  await serving.ended
  return exitCodes.ok
}
