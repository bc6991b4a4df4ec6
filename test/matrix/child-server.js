/* node child-server.js OPTIONS, where OPTIONS are those of `listen` as JSON */
import { listen, RpcError } from '../../dist/index.js'
import { answers } from './answers.js'

const options = JSON.parse(process.argv[2])
const onError = () => {}
await listen(answers(RpcError), 'stdio:', { protocol: 'jsonrpc', onError, ...options })
