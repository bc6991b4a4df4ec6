/** What lists say of servers that are not in them, in their `_meta`: why, by the names of the servers. */
export const missingKey = 'trunkline/unavailable'
