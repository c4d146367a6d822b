import type { Translate } from '../../../i18n/language'
import type { OperatorResult } from '../../../queries/probe_runs'
import { knownWord } from '../../../ui/known_word'

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

const causes = ['preempted', 'steal', 'clock', 'load'] as const

/** What disturbed a sample in words; a newer runner may name other causes. */
export function causeText(t: Translate, cause: string): string {
  const known = knownWord(causes, cause)
  return known ? t(`runs.samples.cause.${known}`) : cause
}
