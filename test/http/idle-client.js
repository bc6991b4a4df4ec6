// Calls a tool and then does nothing more, not even close: an idle client does not keep its process alive.

import { connect } from '../../dist/index.js'

const client = await connect(process.argv[2], { era: 'stateless' })
console.log((await client.call('echo', { word: 'here' })).text)
