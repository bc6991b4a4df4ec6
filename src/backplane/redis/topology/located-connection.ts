import type { OpenRaw, RawConnection } from '../raw-connection.ts'

/**
 * Makes connections to an engine whose address can change: `locate` finds it anew each time, and `check` may refuse
 * what was found.
 */
export function locatedConnection(
  locate: () => Promise<OpenRaw>,
  check: (connection: RawConnection) => Promise<void> = async () => {},
): OpenRaw {
  return onLost => {
    let raw: RawConnection | undefined
    let isDestroyed = false
    const connected = () => {
      if (raw === undefined) throw new Error('the connection is not made yet')
      return raw
    }
    return {
      connect: async () => {
        const open = await locate()
        if (isDestroyed) throw new Error('the connection was closed')
        raw = open(onLost)
        await raw.connect()
        await check(raw)
      },
      send: args => connected().send(args),
      subscribe: (channel, listener) => connected().subscribe(channel, listener),
      unsubscribe: channel => connected().unsubscribe(channel),
      destroy: () => {
        isDestroyed = true
        raw?.destroy()
      },
    }
  }
}
