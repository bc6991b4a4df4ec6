import { KiB, type Limit, MiB } from './limit.ts'

/** Limits of what the nodes of a cluster share. */
export const clusterLimits = {
  engineMs: {
    default: 300,
    unit: 'ms',
    meaning:
      'Time for one command of the engine of a cluster (Redis, Valkey, NATS). Then it fails with `unknown`; two in a row replace the connection.',
  },
  engineConnectMs: {
    default: 500,
    unit: 'ms',
    meaning:
      'Time for the first attempt to connect to the engine of a cluster. Then the next one begins, which has twice as long.',
  },
  engineConnectMaxMs: {
    default: 2000,
    unit: 'ms',
    meaning: 'Time for any further attempt to connect to the engine of a cluster, at most.',
  },
  engineRetryMs: {
    default: 400,
    unit: 'ms',
    meaning: 'The longest delay between attempts to connect to the engine of a cluster.',
  },
  engineOpenMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time for `open` of a backplane. Then it rejects with `down`; connecting continues.',
  },
  enginePending: {
    default: 1000,
    unit: 'count',
    meaning: 'Commands in flight on one connection to the engine. A further one fails with `down`.',
  },
  enginePendingBytes: {
    default: 8 * MiB,
    unit: 'bytes',
    meaning:
      'Size of the commands in flight on one connection to the engine. A further one fails with `down`; one alone may be larger.',
  },
  engineLostChannels: {
    default: 1000,
    unit: 'count',
    meaning:
      'Channels whose subscribers are still to be notified of a lost message. Beyond it, all channels are.',
  },
  clusterKeyBytes: {
    default: 0.5 * KiB,
    unit: 'bytes',
    meaning: 'A key, channel or name that nodes share. A longer one is refused with `too-large`.',
  },
  clusterValueBytes: {
    default: 8 * MiB,
    unit: 'bytes',
    meaning: 'A value or message that nodes share. A longer one is refused with `too-large`.',
  },
  clusterPage: {
    default: 1000,
    unit: 'count',
    meaning: 'Names of a set in one page. Further ones come in the next page.',
  },
  tombstoneMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time for which the epoch of a deleted record stays known. A late write of its owner is refused meanwhile.',
  },
  departedMs: {
    default: 600_000,
    unit: 'ms',
    meaning: 'Time for which a node that left the cluster, or was expelled, stays known.',
  },
  busCheckMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Interval at which a subscriber checks that messages arrive. Two failures in a row replace its connection.',
  },
  sharedTaskBytes: {
    default: 4 * MiB,
    unit: 'bytes',
    meaning: 'A task with its result in a backplane. A larger result becomes an error.',
  },
  sharedTaskResponseMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time in which the process that runs a task must confirm the responses that a client has sent to another node. Then they count as not delivered.',
  },
  sharedTaskRetryMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time for which the status and the result of a task are written again while the backplane cannot be reached.',
  },
  nodeLeaseMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time for which a heartbeat makes a node a member of its cluster. Then other nodes adopt its sessions.',
  },
  nodeHeartbeatMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Interval between the heartbeats of a node.',
  },
  probeMs: {
    default: 300,
    unit: 'ms',
    meaning: 'Time for a node to accept a connection before it counts as silent.',
  },
  probeIntervalMs: {
    default: 250,
    unit: 'ms',
    meaning: 'Interval at which a node that cannot be reached is tried again.',
  },
  expelSilentMs: {
    default: 1500,
    unit: 'ms',
    meaning:
      'Time without a heartbeat after which a node whose address refuses connections is expelled.',
  },
  memberAnswerMs: {
    default: 300,
    unit: 'ms',
    meaning: 'Time for the answer of another node. Then it counts as unknown.',
  },
  permissionMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Time for which a node without a lease acts for its sessions after all others said that they cannot adopt them.',
  },
  forwardWaitMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time for which a request waits while the owner of its session cannot be reached. Then it gets 503.',
  },
  forwardRetryMs: {
    default: 50,
    unit: 'ms',
    meaning: 'Interval at which a request looks for the owner of its session again.',
  },
  keyRotationMs: {
    default: 24 * 3_600_000,
    unit: 'ms',
    meaning: 'Time after which the nodes of a cluster replace their sealing key.',
  },
  keyCheckMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Interval at which a node looks whether the sealing key was replaced.',
  },
  leasedRateMs: {
    default: 50,
    unit: 'ms',
    meaning:
      'Time for which a node leases tokens of a shared rate limit at once, at its share of the rate.',
  },
  leasedTokensMs: {
    default: 200,
    unit: 'ms',
    meaning: 'Time after which leased tokens of a shared rate limit are dropped.',
  },
  nodeDrainMs: {
    default: 120_000,
    unit: 'ms',
    meaning: 'Time for which `trunkline cluster ENGINE drain NODE` waits until the node has left.',
  },
  nodeDrainPollMs: {
    default: 200,
    unit: 'ms',
    meaning: 'Interval at which that command looks whether the node has left.',
  },
  clusterHints: {
    default: 100_000,
    unit: 'count',
    meaning:
      'Sessions whose owner a node remembers because it is not the node that opened them. Others are looked up.',
  },
  sessionGraceMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time for which the record of a session outlives its idle time, so that the owner ends the session first.',
  },
  adoptionBatch: {
    default: 64,
    unit: 'count',
    meaning: 'Sessions of a dead node that a node adopts at a time.',
  },
  natsSweepMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Interval at which a node removes from NATS what has ended.',
  },
  sqliteBusyMs: {
    default: 250,
    unit: 'ms',
    meaning:
      'Time to wait for another process that writes to the same file. Then the operation fails with `down`.',
  },
  sqlitePollMs: {
    default: 100,
    unit: 'ms',
    meaning:
      'Interval at which subscribers look for messages of other processes in an SQLite file.',
  },
  sqliteReserveBytes: {
    default: 16 * MiB,
    unit: 'bytes',
    meaning:
      'Disk space that is kept beside an SQLite file. A full disk releases it, so that reading, deleting and heartbeats continue.',
  },
  sqliteRoomCheckMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Interval at which a write checks whether a full disk has room again. Until then it fails with `full`.',
  },
  sqliteMessageMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time for which an SQLite file keeps a message. A process that did not look for longer reports a gap.',
  },
  linkConnectMs: {
    default: 2000,
    unit: 'ms',
    meaning:
      'Time to open a link between two nodes: connection, TLS and the exchange of names. Then it is refused.',
  },
  linkPingMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Interval between pings on a link between two nodes.',
  },
  linkSilentMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Time for which nothing arrives on a link between two nodes. Then the link ends.',
  },
  linkStreams: {
    default: 65_536,
    unit: 'count',
    meaning:
      'Streams and requests in flight on one link between two nodes. A further one fails with `too-many`.',
  },
  linkCreditBytes: {
    default: 256 * KiB,
    unit: 'bytes',
    meaning:
      'Data of one stream of a link that the receiver has not processed yet. Then the sender of this stream waits.',
  },
  linkDataBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Data in one frame of a link. Longer data is split, so that the streams of a link take turns.',
  },
  linkFrameBytes: {
    default: 1 * MiB,
    unit: 'bytes',
    meaning:
      'A head, request or reply on a link. A longer one is not sent and fails; a link that receives one ends.',
  },
  linkHelloBytes: {
    default: 4 * KiB,
    unit: 'bytes',
    meaning: 'The first frame on a link. A connection with a longer one is refused.',
  },
} as const satisfies Record<string, Limit>
