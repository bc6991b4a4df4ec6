/*
 * The two framings of the raw client. `frame` encodes a text; `counter` returns a function that counts
 * the responses that a chunk completes; `texts` splits complete responses.
 */

const LF = 10

export const lines = {
  frame: text => `${text}\n`,
  counter: () => chunk => {
    let count = 0
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) count += 1
    return count
  },
  texts: bytes => bytes.toString().trimEnd().split('\n'),
}

export const headers = {
  frame: text => `Content-Length: ${text.length}\r\n\r\n${text}`,
  counter() {
    let head = ''
    let body = 0
    return chunk => {
      let count = 0
      for (let at = 0; at < chunk.length; ) {
        if (body > 0) {
          const taken = Math.min(body, chunk.length - at)
          at += taken
          body -= taken
          if (body === 0) count += 1
          continue
        }
        const end = chunk.indexOf(LF, at)
        head += chunk.toString('latin1', at, end < 0 ? chunk.length : end + 1)
        at = end < 0 ? chunk.length : end + 1
        if (!head.endsWith('\r\n\r\n')) continue
        body = Number(/content-length: *(\d+)/i.exec(head)?.[1])
        head = ''
      }
      return count
    }
  },
  texts(bytes) {
    // Bodies contain no line breaks, so a body extends from a blank line to the next header.
    const parts = bytes.toString().split('\r\n\r\n').slice(1)
    return parts.map(part => part.replace(/Content-Length: \d+$/i, ''))
  },
}
