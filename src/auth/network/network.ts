/** A request to an authorization server. */
export interface NetworkRequest {
  /** GET by default. */
  readonly method?: 'GET' | 'POST'
  /** The headers of the request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body of a POST. */
  readonly body?: string
  /** The maximum size of the response. A larger one is an error. */
  readonly maxBytes: number
  /** Time in milliseconds in which the whole response must arrive. */
  readonly timeoutMs: number
}

/** The response of an authorization server. */
export interface NetworkResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers of the response. */
  readonly headers: Headers
  /** The body. */
  readonly text: string
  /** The IP address of the server, where the runtime reports it. */
  readonly address?: string | undefined
}

/** Sends one request. Rejects if there is no complete response; never follows a redirect. */
export type Network = (url: string, request: NetworkRequest) => Promise<NetworkResponse>

/** Sends requests by `fetch`. */
export function fetchNetwork(fetcher: typeof fetch = fetch): Network {
  return async (url, { method = 'GET', headers, body, maxBytes, timeoutMs }) => {
    const response = await fetcher(url, {
      method,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    return {
      status: response.status,
      headers: response.headers,
      text: await textOf(response, maxBytes),
    }
  }
}

/** Reads the body of a response as text. Rejects if it is longer than `maxBytes`, or is not UTF-8. */
export async function textOf(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`the response is longer than ${maxBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
