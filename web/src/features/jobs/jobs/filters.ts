import { type JobFilters, type JobGroups, jobGroupings, type JobSort, jobSorts, jobStates } from '../../../queries/jobs'
import { knownWord } from '../../../ui/known_word'

/** Filters out of an address; what makes no sense in it is left out rather than asked for. */
export function parseJobFilters(raw: { label: string; state: string; project: string; sort: string }): JobFilters & { sort: JobSort } {
  return {
    label: raw.label === 'probe' || raw.label === 'all' ? raw.label : 'job',
    state: jobStates.find((state) => state === raw.state) ?? '',
    project: raw.project.trim(),
    sort: knownWord(jobSorts, raw.sort) ?? '-submitted',
  }
}

/** By what jobs are counted instead of being listed; null: they are listed. */
export function parseJobGrouping(raw: string): JobGroups['by'] | null {
  return knownWord(jobGroupings, raw)
}
