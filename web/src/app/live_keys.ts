import type { QueryKey } from '@tanstack/react-query'
import { jobKeys } from '../queries/jobs'
import { predictionKeys } from '../queries/predictions'
import { probeKeys } from '../queries/probe_keys'
import { queueKeys } from '../queries/queue'
import { unitTypeKeys } from '../queries/unit_types'

/** What is out of date once any job has changed. A page whose figures follow jobs adds its key. */
export const keysThatJobsChange: readonly QueryKey[] = [jobKeys.lists, queueKeys.all, predictionKeys.all, unitTypeKeys.all, probeKeys.all]
