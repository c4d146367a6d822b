import type { QueryKey } from '@tanstack/react-query'
import { jobKeys } from '../queries/jobs'
import { predictionKeys } from '../queries/predictions'
import { probeKeys } from '../queries/probe_keys'
import { queueKeys } from '../queries/queue'
import { unitTypeKeys } from '../queries/unit_types'
import { unitUseKeys } from '../queries/unit_use'

/** Answers that jobs change. */
export interface LiveKey {
  key: QueryKey
  /** A page of them is asked for again at most once in so long. */
  everyMs: number
}

/** What is out of date once any job has changed. A page whose figures follow jobs adds its key. */
export const keysThatJobsChange: readonly LiveKey[] = [
  { key: jobKeys.lists, everyMs: 1500 },
  // Counted over all jobs that fit.
  { key: jobKeys.groups, everyMs: 5000 },
  { key: queueKeys.all, everyMs: 1500 },
  { key: predictionKeys.all, everyMs: 1500 },
  { key: probeKeys.all, everyMs: 1500 },
  { key: unitUseKeys.all, everyMs: 3000 },
  // All unit types of the network in one list, of which a job changes one figure.
  { key: unitTypeKeys.all, everyMs: 10_000 },
]
