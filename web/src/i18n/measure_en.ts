// The texts of the group Measure.
import { findingsEn } from '../features/findings/text.en'
import { jobTypesEn } from '../features/job_types/text.en'
import { measuringEn } from '../features/measuring/text.en'
import { policiesEn } from '../features/metric_policies/text.en'
import { windowsEn } from '../features/network_windows/text.en'
import { operatorsEn } from '../features/operators/text.en'
import { runsEn } from '../features/probe_runs/text.en'
import { schedulesEn } from '../features/probe_schedules/text.en'
import { tasksEn } from '../features/probe_tasks/text.en'
import { scalingEn } from '../features/scaling/text.en'
import { scoresEn } from '../features/scores/text.en'
import { speedupEn } from '../features/speedup/text.en'

export const measureEn = { ...measuringEn, ...operatorsEn, ...tasksEn, ...runsEn, ...schedulesEn, ...findingsEn, ...scoresEn, ...policiesEn,
  ...scalingEn, ...windowsEn, ...speedupEn, ...jobTypesEn }
