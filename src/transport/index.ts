export type { HeldBytesOptions } from '../util/sockets/held-bytes.ts'
export type { FramingName } from '../wire/frame.ts'
export type { ConnectionLimits, Listener } from './listener.ts'
export { memoryPair } from './memory.ts'
export type { OpeningOptions } from './opening.ts'
export {
  type ChildChannel,
  type ChildCommand,
  type ChildOptions,
  type ChildProcess,
  type ChildProcessOptions,
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
export type { BackpressureOptions } from './stream/backpressure.ts'
export type { MessageReaderOptions } from './stream/message-reader.ts'
export { type StreamOptions, streamChannel } from './stream/stream.ts'
export type { WebSocketChannelOptions } from './websocket/channel.ts'
export {
  type ConnectWebSocketOptions,
  connectWebSocket,
  type WebSocketOptions,
} from './websocket/connect.ts'
export type { WebSocketHeartbeatOptions } from './websocket/heartbeat.ts'
export {
  type AcceptWebSocketOptions,
  acceptWebSockets,
  type HandshakeOutcome,
  type ListenWebSocketOptions,
  listenWebSocket,
  type WebSockets,
} from './websocket/server.ts'
