import type { HostRow } from '../hosts.ts'
import type { HostEntry } from './entry.ts'
import { addToJson, removeFromJson } from './json.ts'
import { addToToml, removeFromToml } from './toml.ts'
import { addToYaml, removeFromYaml } from './yaml.ts'

/** A file of a host, as far as editing its text is concerned. */
export interface EditedFile {
  readonly path: string
  readonly host: HostRow
}

/** Returns the text of a file with a server added. Throws a UsageError if the file cannot be edited. */
export function withServer(text: string, file: EditedFile, name: string, entry: HostEntry): string {
  const [key = ''] = file.host.servers
  const [mark, body] = splitMark(text)
  if (isToml(file)) return mark + addToToml(body, key, name, entry)
  if (!isYaml(file)) return mark + addToJson(body, key, name, entry)
  return mark + addToYaml(body, key, name, entry, key === 'mcpServers')
}

/** Returns the text of a file without a server; undefined if the file does not have it. */
export function withoutServer(text: string, file: EditedFile, name: string): string | undefined {
  const [key = ''] = file.host.servers
  const [mark, body] = splitMark(text)
  const remove = isToml(file) ? removeFromToml : isYaml(file) ? removeFromYaml : removeFromJson
  const rest = remove(body, key, name)
  return rest === undefined ? undefined : mark + rest
}

function isToml({ path }: EditedFile): boolean {
  return path.endsWith('.toml')
}

function isYaml({ path }: EditedFile): boolean {
  return /\.ya?ml$/.test(path)
}

/** Separates a byte order mark, which editors on Windows write. */
function splitMark(text: string): readonly [mark: string, body: string] {
  return text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]
}
