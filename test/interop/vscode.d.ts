import type { MessageConnection } from 'vscode-jsonrpc/node'

export declare function serveVscode(connection: MessageConnection): void
