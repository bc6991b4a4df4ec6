import { serve } from '../../serve.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Run } from '../invocation.ts'
import { demoServers } from '../up/demo-servers.ts'

/** `trunkline demo`: serves one of the demo servers of `trunkline up` on stdio. */
export const run: Run = async ({ input }) => {
  const [name = ''] = input.operands
  const make = demoServers.get(name)
  if (make === undefined) {
    throw new UsageError(`missing demo server: use one of ${[...demoServers.keys()].join(', ')}`)
  }
  const serving = await serve(make(), { addresses: ['stdio:'] })
  await serving.ended
  return exitCodes.ok
}
