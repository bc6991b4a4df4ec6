import { eachLine } from './methods.js'

/**
 * Answers lines by `answer(text)`, which gives undefined where there is none: with `each` one write per
 * reply, with `joined` the replies of one chunk together.
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
