/** The formats that are checked; all others are annotations. */
export type Format = 'email' | 'uri' | 'date' | 'date-time'

/**
 * Checks whether a string has a format, in linear time.
 *
 * `email` is an address of RFC 5321 without comments, `uri` an absolute URI of RFC 3986, `date` and
 * `date-time` are those of RFC 3339, for dates that exist.
 */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map<
  Format,
  (text: string) => boolean
>([
  ['email', isEmail],
  ['uri', isUri],
  ['date', isDate],
  ['date-time', isDateTime],
])

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || at > 64 || text.length > 254) return false
  return isLocalPart(text.slice(0, at)) && isDomain(text.slice(at + 1))
}

function isLocalPart(text: string): boolean {
  if (text.startsWith('"')) return /^"(?:[^"\\\r\n]|\\[^\r\n])*"$/.test(text)
  return text.split('.').every(atom => /^[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+$/.test(atom))
}

function isDomain(text: string): boolean {
  if (text.startsWith('[')) return /^\[[\w:.]+\]$/.test(text)
  return text
    .split('.')
    .every(
      label =>
        label.length <= 63 &&
        /^(?!-)[A-Za-z\d\u0080-\uffff-]+$/.test(label) &&
        !label.endsWith('-'),
    )
}

function isUri(text: string): boolean {
  const colon = text.indexOf(':')
  if (colon === -1 || !/^[A-Za-z][A-Za-z\d+.-]*$/.test(text.slice(0, colon))) return false
  // All the characters of RFC 3986, and "%" only before two hexadecimal digits.
  if (/[^\w.~:/?#[\]@!$&'()*+,;=%-]/.test(text) || /%(?![\dA-Fa-f]{2})/.test(text)) return false
  const rest = text.slice(colon + 1)
  if (rest.indexOf('#') !== rest.lastIndexOf('#')) return false
  if (!rest.startsWith('//')) return !/[[\]]/.test(rest)
  const slash = rest.slice(2).search(/[/?#]/)
  const end = slash === -1 ? rest.length : slash + 2
  return isAuthority(rest.slice(2, end)) && !/[[\]]/.test(rest.slice(end))
}

function isAuthority(text: string): boolean {
  const at = text.indexOf('@')
  return !/[[\]]/.test(text.slice(0, at + 1)) && isHost(text.slice(at + 1))
}

function isHost(text: string): boolean {
  return /^(?:\[[\dA-Fa-f:.]+\]|\[v[\dA-Fa-f]+\.[^[\]/?#@]+\]|[^[\]:@]*)(?::\d*)?$/.test(text)
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (found === null) return false
  const [year = 0, month = 0, day = 0] = found.slice(1).map(Number)
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && isLeapYear ? 29 : (monthDays[month - 1] ?? 0)
  return day >= 1 && day <= days
}

function isDateTime(text: string): boolean {
  if (!isDate(text.slice(0, 10)) || !/^[Tt]$/.test(text.charAt(10))) return false
  const found = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text.slice(11))
  if (found === null) return false
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number)
  const [offsetHour = 0, offsetMinute = 0] = found.slice(5, 7).map(digits => Number(digits ?? 0))
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second is the last second of a day in UTC.
  const offset = (offsetHour * 60 + offsetMinute) * (found[4] === '-' ? 1 : -1)
  return (hour * 60 + minute + offset + 2880) % 1440 === 1439
}
