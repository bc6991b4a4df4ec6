import { limits } from '../../../util/limits/limits.ts'
import { collectingSockets } from './node-sockets.ts'
import type { DialNats } from './raw-connection.ts'
import { NatsReplyError, replyCodes } from './reply-errors.ts'

/**
 * The package has a timeout for each request, which must not end before ours: `RemoteConnection` closes a connection
 * that does not answer, and that ends its requests.
 */
const requestMs = 60_000

/** Loads the package `@nats-io/transport-node`. Rejects with a TypeError if it is not installed. */
export async function loadNats(): Promise<DialNats> {
  const nats = await import('@nats-io/transport-node').catch(cause => {
    throw new TypeError(
      'a backplane in NATS needs a package: npm install @nats-io/transport-node',
      {
        cause,
      },
    )
  })
  const replyError = (error: unknown): unknown => {
    const { cause } = error instanceof Error ? error : { cause: undefined }
    for (const each of [error, cause]) {
      if (each instanceof nats.NoRespondersError) {
        return new NatsReplyError(replyCodes.nobody, 'nobody received the request')
      }
      if (each instanceof nats.PermissionViolationError) {
        return new NatsReplyError(replyCodes.notAllowed, each.message)
      }
      if (each instanceof nats.AuthorizationError) {
        return new NatsReplyError(replyCodes.loginRefused, each.message)
      }
    }
    return error
  }
  const replied = async <T>(reply: Promise<T>): Promise<T> => {
    try {
      return await reply
    } catch (error) {
      throw replyError(error)
    }
  }

  return ({ servers, isTls, user, password, token }) =>
    onLost => {
      const sockets = new Set<{ destroy(): unknown }>()
      let client: Awaited<ReturnType<typeof nats.connect>> | undefined
      let isDestroyed = false
      const connected = () => {
        if (client === undefined) throw new Error('the connection is not made yet')
        return client
      }
      const connect = () =>
        nats.connect({
          servers: [...servers],
          name: 'trunkline',
          // The connection is replaced and never repaired, because what waited for it has failed already.
          reconnect: false,
          ignoreClusterUpdates: true,
          noAsyncTraces: true,
          timeout: limits.engineConnectMaxMs.default,
          ...(isTls ? { tls: {} } : {}),
          ...(user === undefined ? {} : { user, pass: password ?? '' }),
          ...(token === undefined ? {} : { token }),
        })
      return {
        get maxPayload() {
          return connected().info?.max_payload ?? 0
        },
        get hasJetStream() {
          return connected().info?.jetstream === true
        },
        connect: async () => {
          const collect = (socket: { destroy(): unknown }) => {
            if (isDestroyed) socket.destroy()
            else sockets.add(socket)
          }
          client = await replied(collectingSockets(collect, connect))
          if (isDestroyed) return void client.close()
          client
            .closed()
            .then(
              error => onLost(replyError(error ?? new Error('the connection was closed'))),
              onLost,
            )
        },
        destroy: () => {
          isDestroyed = true
          void client?.close()
          for (const socket of sockets) socket.destroy()
          sockets.clear()
        },
        flush: () => connected().flush(),
        request: async (subject, text, headers = {}) => {
          const sent = nats.headers()
          for (const [name, value] of Object.entries(headers)) sent.set(name, value)
          const options = { timeout: requestMs, headers: sent }
          return (await replied(connected().request(subject, text, options))).string()
        },
        publish: (subject, text, replyTo) => {
          connected().publish(subject, text, replyTo === undefined ? {} : { reply: replyTo })
        },
        subscribe: (subject, listener) => {
          const subscription = connected().subscribe(subject, {
            callback: (error, message) => {
              if (error !== null) return
              const { headers } = message
              listener({
                subject: message.subject,
                text: message.string(),
                replyTo: message.reply ?? '',
                isNotice: headers !== undefined && headers.code > 0,
                header: name => headers?.get(name) ?? '',
              })
            },
          })
          return () => subscription.unsubscribe()
        },
      }
    }
}
