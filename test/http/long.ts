import { test } from 'vitest'
import { expectOwnResponses } from './ledger.ts'

// Started by scripts/soak.js, which checks its arguments.
const calls = Number(process.env.SOAK_CALLS ?? 100_000)
const clients = 200

test(`${clients} clients of one server get only their own responses to ${calls} calls`, async () => {
  await expectOwnResponses(clients, Math.ceil(calls / clients))
})
