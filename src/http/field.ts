/** A header as it stands in a head. */
export interface Field {
  /** In lower case. */
  readonly name: string
  /** Without the blanks around it. */
  readonly value: string
}

/** Reads a line of a head. Where it is no header, says so in words. */
export function readField(line: string): Field | string {
  const colon = line.indexOf(':')
  const name = line.slice(0, colon)
  if (colon === -1 || !fieldName.test(name)) return 'a header without a name'
  let start = colon + 1
  let end = line.length
  while (start < end && isBlank(line.charCodeAt(start))) start++
  while (start < end && isBlank(line.charCodeAt(end - 1))) end--
  const value = line.slice(start, end)
  if (badValue.test(value)) return 'a header with control characters'
  return { name: name.toLowerCase(), value }
}

const fieldName = /^[\w!#$%&'*+.^`|~-]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const badValue = /[\0-\x08\x0a-\x1f\x7f]/

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
