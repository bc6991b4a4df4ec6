/**
 * Characters that can change what a terminal or a reader of a log sees: control characters of both sets
 * but line feed and tab, DEL, line and paragraph separators, marks that change the direction of text,
 * invisible format characters, and tags.
 */
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g

/** Returns a text that is safe to print: every unprintable character is replaced by U+FFFD. Keeps lines. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unprintable, '\ufffd')
}

/** Returns a text in which unprintable characters, line feeds and tabs are escaped: as in JSON, `\u001b`. */
export function escapeUnprintable(text: string): string {
  return text.replace(/[\n\t]/g, escaped).replace(unprintable, escaped)
}

/** Returns JSON text that is safe to print, and means the same. Its own line breaks and indentation stay. */
export function printableJson(json: string): string {
  // JSON has escaped the control characters of ASCII in its strings; what is left is its own layout.
  return json.replace(unprintable, escaped)
}

function escaped(found: string): string {
  let text = ''
  for (let at = 0; at < found.length; at++) {
    text += `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`
  }
  return text
}
