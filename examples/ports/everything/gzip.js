// @ts-check
// Fetches a file, within limits, and compresses it.

import { gzipSync } from 'node:zlib'

const {
  GZIP_MAX_FETCH_SIZE = 10 * 1024 * 1024,
  GZIP_MAX_FETCH_TIME_MILLIS = 30_000,
  GZIP_ALLOWED_DOMAINS = '',
} = process.env
const maxBytes = Number(GZIP_MAX_FETCH_SIZE)
const domains = GZIP_ALLOWED_DOMAINS.split(',')
  .map(domain => domain.trim().toLowerCase())
  .filter(domain => domain !== '')

/** @param {string} address an http, https or data URL */
export async function compressed(address) {
  const url = new URL(address)
  const fault = faultOf(url)
  if (fault !== undefined) throw new Error(`Error processing file ${address}: ${fault}`)
  const signal = AbortSignal.timeout(Number(GZIP_MAX_FETCH_TIME_MILLIS))
  const response = await fetch(url, { signal })
  if (response.body === null) throw new Error('No response body')
  const announced = Number(response.headers.get('content-length'))
  if (announced > maxBytes) {
    throw new Error(`Content-Length for ${url} exceeds max of ${maxBytes}: ${announced}`)
  }
  const chunks = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`Response from ${url} exceeds ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return gzipSync(Buffer.concat(chunks))
}

/** @param {URL} url */
function faultOf({ href, protocol, hostname }) {
  if (!['http:', 'https:', 'data:'].includes(protocol)) {
    return `Unsupported URL protocol for ${href}. Only http, https, and data URLs are supported.`
  }
  const isAllowed = domains.some(domain => hostname === domain || hostname.endsWith(`.${domain}`))
  if (protocol === 'data:' || domains.length === 0 || isAllowed) return undefined
  return `Domain ${hostname} is not in the allowed domains list.`
}
