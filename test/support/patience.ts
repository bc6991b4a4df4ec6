/**
 * How `vi.waitFor` and `vi.waitUntil` wait for what must come about: they look often, and a machine that
 * has more to do gets the time it needs. Their own limit of a second says nothing about the code.
 */
export const patience = { timeout: 60_000, interval: 5 }
