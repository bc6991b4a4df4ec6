export { type NatsOptions, nats } from './nats.ts'
