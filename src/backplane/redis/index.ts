export { type RedisOptions, redis } from './redis.ts'
