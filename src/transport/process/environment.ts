/**
 * The environment of a child process: what every program needs, plus `own`.
 *
 * Only variables that name folders, languages and the terminal are handed down, never the rest of
 * this process's environment, where secrets live, unless it is named in `further`. A variable of `own`
 * that is undefined is left out.
 */
export function childEnvironment(
  own: Readonly<Record<string, string | undefined>> = {},
  further: readonly string[] = [],
  inherited: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): Record<string, string> {
  // On Windows names differ only by more than their case, and two spellings of one would compete.
  const keyOf = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const isUsual = platform === 'win32' ? isWindowsName : isPosixName
  const named = new Set(further.map(keyOf))
  const chosen = new Map<string, readonly [name: string, value: string | undefined]>()
  for (const [name, value] of Object.entries(inherited)) {
    // Shells export functions in this form; a variable is not the place to run code from.
    if (value?.startsWith('() ')) continue
    const key = keyOf(name)
    if (isUsual(key) || named.has(key)) chosen.set(key, [name, value])
  }
  for (const [name, value] of Object.entries(own)) chosen.set(keyOf(name), [name, value])
  const entries = [...chosen.values()].filter(
    (entry): entry is readonly [string, string] => entry[1] !== undefined,
  )
  return Object.fromEntries(entries)
}

const posixNames: ReadonlySet<string> = new Set([
  'HOME',
  'LANG',
  'LANGUAGE',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
])

const windowsNames: ReadonlySet<string> = new Set([
  'APPDATA',
  'COMMONPROGRAMFILES',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LANG',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'TZ',
  'USERDOMAIN',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
])

function isPosixName(name: string): boolean {
  return posixNames.has(name) || name.startsWith('LC_')
}

function isWindowsName(name: string): boolean {
  return windowsNames.has(name) || name.startsWith('LC_')
}
