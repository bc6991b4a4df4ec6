import type { Method } from '../../src/jsonrpc/handler.ts'

export declare const pageMethods: Readonly<Record<string, Method>>
