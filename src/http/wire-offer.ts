/**
 * The header by which a client asks, with `server/discover`, whether WebSockets are taken at the same
 * address, and by which a server says so. Never sent unasked, so that nobody else ever sees it.
 */
export const wireHeader = 'trunkline-wire'

/** What the header says. */
export const wireOffer = 'websocket'
