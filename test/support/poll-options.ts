/**
 * Options for `vi.waitFor` and `vi.waitUntil`: poll often, and give a busy machine the time it needs.
 * Their default limit of one second would measure the machine, not the code.
 */
export const pollOptions = { timeout: 60_000, interval: 5 }
