import { events } from '../events.ts'
import type { Log } from '../log/log.ts'

/** Writes the events of clusters to a log. Returns functions that stop it. */
export function clusterLines(log: Log): (() => void)[] {
  return [
    events.nodeJoined.subscribe(event => log.write('info', 'node joined', { ...event })),
    events.nodeLeft.subscribe(event => {
      log.write(event.reason === 'expelled' ? 'warn' : 'info', 'node left', { ...event })
    }),
    events.nodeAdopted.subscribe(event => log.write('info', 'sessions adopted', { ...event })),
    events.sessionsHandedOff.subscribe(event => {
      log.write(event.remaining === 0 ? 'info' : 'warn', 'sessions handed off', { ...event })
    }),
    events.sessionFenced.subscribe(event => log.write('warn', 'session fenced', { ...event })),
    events.engineChanged.subscribe(event => {
      log.write(event.isUp ? 'info' : 'warn', event.isUp ? 'engine up' : 'engine down', {
        ...event,
      })
    }),
  ]
}
