/** An error response of an OAuth endpoint. */
export class OAuthProblem extends Error {
  /** The value of `error`. */
  readonly error: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    error: string,
    description: string,
    {
      status = 400,
      headers = {},
    }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(description)
    this.name = 'OAuthProblem'
    this.error = error
    this.status = status
    this.headers = headers
  }
}

/** Makes a JSON response that nobody stores. */
export function jsonResponse(
  body: object,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } })
}

/** Makes the response for a failure: that of an OAuthProblem, else 500. */
export function problemResponse(failure: unknown): Response {
  if (!(failure instanceof OAuthProblem)) {
    return jsonResponse(
      { error: 'server_error', error_description: String(failure) },
      { status: 500 },
    )
  }
  const { error, message, status, headers } = failure
  return jsonResponse({ error, error_description: message }, { status, headers })
}
