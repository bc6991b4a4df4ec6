import { compare } from './measure.js'
import { rawClient, request } from './raw.js'
import { list } from './report.js'

const modes = [
  { name: 'sequential', inFlight: 1 },
  { name: '64 in flight', inFlight: 64 },
]

/**
 * Races servers, all driven by the same raw client. `field` holds `[name, open]` pairs, the first
 * `floors` of them bare loops.
 */
export function raceServers(title, field, options) {
  return race(`${title} server`, options, {
    bytes: request(500).length,
    notes: [
      `Requests of ${request(500).length} bytes whose params come back as the result, one connection, the server in a process`,
      'of its own, always the same raw client, which only counts replies. The floors check nothing.',
    ],
    enter: inFlight => field.map(([name, open]) => rawClient(name, open, inFlight)),
  })
}

/** Races whatever `enter(inFlight)` gives, sequentially and with many calls in flight. */
export async function race(
  title,
  { rounds, seconds = 0.15, floors, target, only, alone, log },
  field,
) {
  const reports = []
  for (const { name, inFlight } of modes.filter(mode => mode.name.includes(only))) {
    log(`${title}: ${name}`)
    const results = await compare(field.enter(inFlight), { rounds, seconds, floors, alone })
    // One call at a time measures how long two processes take to wake each other, and little else.
    const aim = inFlight > 1 ? target : undefined
    const workload = { name, bytes: field.bytes, target: aim, results }
    reports.push({
      title: `${title}, ${name}`,
      notes: field.notes,
      workloads: [workload],
      text: list(workload),
    })
  }
  return reports
}
