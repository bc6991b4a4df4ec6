import { expect, test } from 'vitest'
import { attacks } from './attacks.js'
import { runAttack } from './run-attack.js'

const MiB = 1024 * 1024

/** What JavaScript may hold because of an attack. No listener lets requests or responses hold more. */
const maxHeldBytes = 64 * MiB

/**
 * What V8 may have freed but not returned to the system, which newer versions do later: up to 50 MiB in Node.js 20 and
 * up to 110 MiB in Node.js 26.
 */
const freedBytes = (Number.parseInt(process.versions.node, 10) < 24 ? 64 : 128) * MiB

/** What may stay resident: what is held, and what is freed. */
const maxResidentBytes = maxHeldBytes + freedBytes

/**
 * How long an attack may block the event loop, compared with parsing 6 MB of JSON in the same process. Both are
 * CPU times of the main thread.
 */
const maxBlockedRatio = 8

// Several at a time, because each attacks a process of its own and waits for it.
test.concurrent.each(Object.keys(attacks))(
  '%s cost a bounded amount of memory and time',
  async name => {
    const { heldBytes, keptBytes, blockedRatio } = await runAttack(name)
    expect(heldBytes).toBeLessThan(maxHeldBytes)
    expect(keptBytes).toBeLessThan(maxResidentBytes)
    expect(blockedRatio).toBeLessThan(maxBlockedRatio)
  },
)
