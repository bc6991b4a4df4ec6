import { closeSync, openSync, readSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, resolve, sep } from 'node:path'
import type { Environment, Places } from '../../router/config/env.ts'
import { limits } from '../../util/limits/limits.ts'
import { fileProblem } from './file-problem.ts'

/** Returns what the references of a configuration file stand for, apart from environment variables. */
export function placesOf(file: string, env: Environment = process.env): Places {
  const workspace = workspaceOf(file, env)
  return {
    workspace,
    home: homeOf(env),
    separator: sep,
    readText: path => readText(resolve(workspace, path)),
  }
}

/** Returns the home folder of the user. */
export function homeOf(env: Environment): string {
  return (process.platform === 'win32' ? env.USERPROFILE : env.HOME) || homedir()
}

/**
 * Returns the folder that a file configures: its own, or for a file in a folder such as `.vscode` the one around
 * that. A file of the user, in the home folder, configures the current folder.
 */
export function workspaceOf(file: string, env: Environment): string {
  let folder = dirname(resolve(file))
  if (basename(folder) === 'settings') folder = dirname(folder)
  if (basename(folder).startsWith('.')) folder = dirname(folder)
  return folder === resolve(homeOf(env)) ? process.cwd() : folder
}

/** Reads a small text file. Throws an Error whose message is the reason. */
function readText(path: string): string {
  const max = limits.configBytes.default
  const buffer = Buffer.alloc(max + 1)
  let length = 0
  try {
    const file = openSync(path, 'r')
    try {
      for (let read = 1; read > 0 && length <= max; length += read) {
        read = readSync(file, buffer, length, buffer.length - length, null)
      }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new Error(fileProblem(error))
  }
  if (length > max) throw new Error(`it is larger than ${max} bytes`)
  return buffer.toString('utf8', 0, length)
}
