/**
 * Returns the environment of a child process: the variables that every program needs, plus `own`.
 *
 * Only variables for directories, languages and the terminal are inherited. The rest of the environment
 * of this process can contain secrets and is inherited only if it is named in `further`. A variable of
 * `own` that is undefined is removed.
 */
export function childEnvironment(
  own: Readonly<Record<string, string | undefined>> = {},
  further: readonly string[] = [],
  inherited: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): Record<string, string> {
  // On Windows names are case-insensitive, and two spellings of one name would conflict.
  const keyOf = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const isInherited = platform === 'win32' ? isWindowsName : isPosixName
  const requested = new Set(further.map(keyOf))
  const chosen = new Map<string, readonly [name: string, value: string | undefined]>()
  for (const [name, value] of Object.entries(inherited)) {
    // Shells export functions in this form, which must not be a way to run code.
    if (value?.startsWith('() ')) continue
    const key = keyOf(name)
    if (isInherited(key) || requested.has(key)) chosen.set(key, [name, value])
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
