/** Whether a text is one scope (RFC 6749): printable ASCII without spaces, quotes and backslashes. */
export function isScope(text: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)
}
