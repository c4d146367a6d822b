// The texts of the group Measure.
import { findingsZh } from '../features/findings/text.zh'
import { jobTypesZh } from '../features/job_types/text.zh'
import { measuringZh } from '../features/measuring/text.zh'
import { policiesZh } from '../features/metric_policies/text.zh'
import { windowsZh } from '../features/network_windows/text.zh'
import { operatorsZh } from '../features/operators/text.zh'
import { runsZh } from '../features/probe_runs/text.zh'
import { schedulesZh } from '../features/probe_schedules/text.zh'
import { tasksZh } from '../features/probe_tasks/text.zh'
import { scalingZh } from '../features/scaling/text.zh'
import { scoresZh } from '../features/scores/text.zh'
import { speedupZh } from '../features/speedup/text.zh'
import type { measureEn } from './measure_en'

export const measureZh: Record<keyof typeof measureEn, string> = { ...measuringZh, ...operatorsZh, ...tasksZh, ...runsZh, ...schedulesZh, ...findingsZh, ...scoresZh, ...policiesZh,
  ...scalingZh, ...windowsZh, ...speedupZh, ...jobTypesZh }
