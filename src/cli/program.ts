import { relative } from 'node:path'

/** The command that starts this program again. */
export function ownProgram(): readonly string[] {
  return [process.execPath, process.argv[1] ?? '']
}

/** This program as the user would type it in the current folder. */
export function programName(): string {
  const file = process.argv[1] ?? ''
  // Started by npx or by a package script, so it is not in PATH.
  if (/[\\/]node_modules[\\/]\.bin[\\/]/.test(file)) return 'npx trunkline'
  if (!file.endsWith('.js')) return 'trunkline'
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? 'trunkline' : `node ${path}`
}
