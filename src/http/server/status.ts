/**
 * The HTTP status of a stateless request that failed with this code. What went wrong in the method
 * itself is an answer like any other, and has the status 200.
 */
export function statusOf(code: number): number {
  switch (code) {
    case -32700:
    case -32600:
    case -32020:
    case -32021:
    case -32022:
      return 400
    case -32601:
      return 404
    case -32012:
      return 413
    default:
      return 200
  }
}
