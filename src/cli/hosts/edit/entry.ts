import type { EntryForm } from '../hosts.ts'

/** A server to write into the file of a host: a program, or an address. */
export type InstalledServer =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string }

/** The entry of a server: members in the order in which they are written. */
export type HostEntry = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** Returns the entry of a server in the form of a host. */
export function entryOf(form: EntryForm, name: string, server: InstalledServer): HostEntry {
  if ('url' in server) {
    const { url } = server
    if (form === 'plain') return { url }
    if (form === 'typed') return { type: 'http', url }
    if (form === 'list') return { type: 'remote', url, enabled: true }
    return { enabled: true, type: 'streamable_http', name, uri: url, timeout: 300 }
  }
  const { command, args } = server
  if (form === 'plain') return { command, args }
  if (form === 'typed') return { type: 'stdio', command, args }
  if (form === 'list') return { type: 'local', command: [command, ...args], enabled: true }
  return { enabled: true, type: 'stdio', name, cmd: command, args, timeout: 300 }
}
