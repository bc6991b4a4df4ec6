import { replaceFile } from '../util/files/replace-file.ts'
import { errorMessage } from '../util/text/error-message.ts'
import { FileError } from './exit.ts'

/** Writes the result of a command to the file of its option `--output`. Throws a FileError. */
export async function writeOutput(file: string, content: string | Uint8Array): Promise<void> {
  try {
    // An ordinary document: others may read it if the umask lets them.
    await replaceFile(file, content, { mode: 0o666 })
  } catch (error) {
    const reason = errorMessage(error)
    throw new FileError(`cannot write --output ${file}: ${reason}`, { cause: error })
  }
}
