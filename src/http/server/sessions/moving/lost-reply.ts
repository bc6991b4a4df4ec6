import { decode } from '../../../../jsonrpc/codec/decode.ts'
import { encodeError } from '../../../../jsonrpc/codec/encode.ts'
import type { RpcError } from '../../../../jsonrpc/error.ts'
import { errors } from '../../../../mcp/errors/constructors.ts'
import { type ErrorContext, toWire } from '../../../../mcp/errors/wire.ts'

/** Returns the reply to a request that was in flight in a process that has ended. `id` is its id as JSON text. */
export function lostReply(id: string, context: ErrorContext): string {
  const decoded = decode(`{"jsonrpc":"2.0","id":${id},"result":null}`)
  const { code, message, data } = toWire(lostRequest(), context)
  return encodeError(decoded.type === 'result' ? decoded.id : null, code, message, data)
}

/** Returns the error of a request that was in flight in a process that has ended. */
export function lostRequest(): RpcError {
  return errors.transportError(
    { outcome: 'unknown' },
    {
      message:
        'The process that handled the request has ended; whether the request was carried out is unknown',
    },
  )
}
