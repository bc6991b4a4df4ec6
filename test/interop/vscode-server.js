// A server of vscode-jsonrpc on stdio.

import { createMessageConnection } from 'vscode-jsonrpc/node'
import { serveVscode } from './vscode.js'

serveVscode(createMessageConnection(process.stdin, process.stdout))
