import { compare } from './measure.js'
import { rawClient, request } from './raw.js'
import { list } from './report.js'

const modes = [
  { name: 'sequential', inFlight: 1 },
  { name: '64 in flight', inFlight: 64 },
]

/**
 * Compares servers, all driven by the same raw client. `field` holds `[name, open]` pairs, of which the
 * first `floors` are bare loops.
 */
export function raceServers(title, field, options) {
  return race(`${title} server`, options, {
    bytes: request(500).length,
    notes: [
      `Requests of ${request(500).length} bytes whose params are returned as the result, over one connection to a separate`,
      'process. The same raw client drives every server and only counts responses. The floors validate nothing.',
    ],
    enter: inFlight => field.map(([name, open]) => rawClient(name, open, inFlight)),
  })
}

/** Compares the contestants that `enter(inFlight)` returns, sequentially and with many calls in flight. */
export async function race(
  title,
  { rounds, seconds = 0.15, floors, target, only, alone, log },
  field,
) {
  const reports = []
  for (const { name, inFlight } of modes.filter(mode => mode.name.includes(only))) {
    log(`${title}: ${name}`)
    const results = await compare(field.enter(inFlight), { rounds, seconds, floors, alone })
    // Sequential calls measure little else than how long two processes take to wake each other.
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
