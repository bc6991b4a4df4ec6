/** The keys of one cluster in an engine. */
export interface RedisKeys {
  record(key: string): string
  log(key: string): string
  set(set: string): string
  bucket(bucket: string): string
  slots(name: string): string
  channel(channel: string): string
  /** The keys of the members, in the order in which the scripts expect them. */
  readonly members: readonly [string, ...string[]]
  /** The hash that also holds `born`, which tells whether the engine was emptied. */
  readonly state: string
}

/**
 * Returns the keys of a cluster. All keys that one script uses have the same hash tag, the part in braces, so that
 * they are on the same shard. So do all channels, which one subscriber can hear on that shard.
 */
export function redisKeys(cluster: string): RedisKeys {
  const prefix = `tl:${cluster}:`
  const state = `${prefix}{m}:state`
  return {
    record: key => `${prefix}{k:${key}}`,
    log: key => `${prefix}{k:${key}}:log`,
    set: set => `${prefix}{z:${set}}`,
    bucket: bucket => `${prefix}{b:${bucket}}`,
    slots: name => `${prefix}{s:${name}}`,
    channel: channel => `${prefix}{c}:${channel}`,
    members: [
      `${prefix}{m}:leases`,
      ...['changes', 'departed', 'facts'].map(part => `${prefix}{m}:${part}`),
      state,
    ],
    state,
  }
}
