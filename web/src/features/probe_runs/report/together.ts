import type { ResultComparison } from '../../../queries/probe_tasks'

export type ComparedPlace = ResultComparison['places'][number]

/** Places best first by what their newest results say together; the server's order is that of the runs alone. */
export function bestFirst(places: readonly ComparedPlace[]): ComparedPlace[] {
  return [...places].sort((a, b) => a.together.median_s - b.together.median_s)
}

/** Whether the run is not among the results that count together: they tell of a change since, or there are many newer ones. */
export function isSuperseded(place: Pick<ComparedPlace, 'probe_run_id' | 'together'>): boolean {
  return !place.together.probe_run_ids.includes(place.probe_run_id)
}
