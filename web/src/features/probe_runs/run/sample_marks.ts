import type { OperatorResult } from '../../../queries/probe_runs'

export interface Sample {
  number: number
  seconds: number
  isOutlier: boolean
  /** What disturbed it; empty: nothing was seen. */
  causes: readonly string[]
}

/** Samples in the order in which they were taken, with what was said of each. */
export function samplesOf(result: Pick<OperatorResult, 'samples_s' | 'outliers' | 'disturbed'>): Sample[] {
  return result.samples_s.map((seconds, i) => ({
    number: i + 1, seconds, isOutlier: result.outliers.includes(i), causes: result.disturbed?.find((one) => one.sample === i)?.causes ?? [],
  }))
}
