import type { EventStream, HttpHandler, HttpReply, HttpRequest } from './exchange.ts'

/** Serves some paths of an HTTP address, such as the console of a router. */
export interface PathHandler {
  /** Whether the path of a request belongs to this handler. */
  handles(request: { readonly path: string }): boolean
  /** @internal Serves one request. Never throws. */
  handle(request: HttpRequest, reply: HttpReply): void
}

/**
 * Combines two handlers: `part` gets the requests for its paths, and `main` all others. Draining ends the event
 * streams of `part` at this address, because they have no end of their own.
 */
export function beside(main: HttpHandler, part: PathHandler): HttpHandler {
  const streams = new Set<EventStream>()
  const endStreams = (): void => {
    for (const stream of streams) stream.end()
    streams.clear()
  }
  return {
    handle: (request, reply) => {
      if (part.handles(request)) part.handle(request, withStreams(reply, streams))
      else main.handle(request, reply)
    },
    retire: () => main.retire?.(),
    drain: options => {
      endStreams()
      return main.drain(options)
    },
    close: options => {
      endStreams()
      return main.close(options)
    },
  }
}

/** Returns a reply whose event stream is in `streams` as long as it is open. */
function withStreams(reply: HttpReply, streams: Set<EventStream>): HttpReply {
  return {
    send: (status, headers, body) => reply.send(status, headers, body),
    stream: headers => {
      const stream = reply.stream(headers)
      streams.add(stream)
      reply.onDisconnect(() => streams.delete(stream))
      return {
        write: text => stream.write(text),
        end: () => {
          streams.delete(stream)
          stream.end()
        },
      }
    },
    get isFinished() {
      return reply.isFinished
    },
    onDisconnect: listener => reply.onDisconnect(listener),
  }
}
