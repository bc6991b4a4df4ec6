export type { Listener } from './listener.ts'
export { memoryPair } from './memory.ts'
export {
  type ChildChannel,
  type ChildCommand,
  type ChildOptions,
  type ChildProcess,
  childChannel,
} from './process/child.ts'
export {
  type ConnectSocketOptions,
  connectSocket,
  type ListenSocketOptions,
  listenSocket,
  type SocketTarget,
} from './socket/socket.ts'
export { type StdioOptions, stdioChannel } from './stdio.ts'
export { type StreamOptions, streamChannel } from './stream/stream.ts'
export { type ConnectWebSocketOptions, connectWebSocket } from './websocket/connect.ts'
export {
  type AcceptWebSocketOptions,
  acceptWebSockets,
  listenWebSocket,
  type WebSockets,
} from './websocket/server.ts'
