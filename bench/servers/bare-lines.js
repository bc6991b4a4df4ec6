import { eachLine } from './methods.js'

/**
 * Responds to lines with `answer(text)`, which returns undefined for no response. `each` writes each
 * response separately, `joined` writes the responses of one chunk together.
 */
export function serveLines(input, output, writes, answer) {
  const write = text => text !== undefined && output.write(`${text}\n`)
  if (writes === 'each') {
    eachLine(input, line => write(answer(line)))
    return
  }
  let replies = ''
  eachLine(
    input,
    line => {
      const reply = answer(line)
      if (reply !== undefined) replies += `${reply}\n`
    },
    () => {
      if (replies === '') return
      output.write(replies)
      replies = ''
    },
  )
}
