import { type ConfigText, readConfigText } from '../text.ts'

/** A format of configuration files. */
export type ConfigFormat = 'json' | 'toml' | 'yaml'

/** Returns the format of a file by its extension, or for an unusual extension by its contents. */
export function formatOf(path: string, text: string): ConfigFormat {
  const [, extension = ''] = /\.([a-z]+)$/i.exec(path) ?? []
  const known = extensions.get(extension.toLowerCase())
  if (known !== undefined) return known
  const [line = ''] = /^(?!\s*(?:#|\/\/|$)).+/m.exec(text.replace(/^\uFEFF/, '')) ?? []
  if (/^\s*\[{1,2}[\w."'-]+\]|^\s*[\w."'-]+\s*=/.test(line)) return 'toml'
  return /^\s*(?:-\s|---|[\w."'-]+\s*:(?:\s|$))/.test(line) ? 'yaml' : 'json'
}

const extensions: ReadonlyMap<string, ConfigFormat> = new Map([
  ['json', 'json'],
  ['jsonc', 'json'],
  ['toml', 'toml'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
])

/** Loads the parser for a file. JSON with comments needs no further module. */
export async function parserFor(path: string, text: string): Promise<(text: string) => ConfigText> {
  switch (formatOf(path, text)) {
    case 'toml':
      return (await import('./toml.ts')).readTomlText
    case 'yaml':
      return (await import('./yaml.ts')).readYamlText
    case 'json':
      return readConfigText
  }
}
