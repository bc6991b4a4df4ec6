// node lock-holder.js FOLDER: a program that begins the exclusive work on the stored tokens, prints a line, and never
// finishes it.

import { fileStore } from '../../dist/auth/index.js'

const store = fileStore(process.argv[2])
const keys = await store.keys()
const key = keys.find(one => one.startsWith('tokens '))
setInterval(() => {}, 60_000)
await store.exclusive(key, () => {
  console.log('inside')
  return new Promise(() => {})
})
