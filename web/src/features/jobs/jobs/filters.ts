import { type JobFilters, type JobGroups, jobGroupings, type JobSort, jobSorts, jobStates } from '../../../queries/jobs'
import { parseMoment } from '../../../ui/forms/moments'
import { knownWord } from '../../../ui/known_word'

/** What an address holds of a list of jobs. */
export const filterNames = ['label', 'state', 'project', 'name', 'type', 'center', 'unit_type', 'submitted_by', 'submitted_after',
  'submitted_before', 'sort'] as const
export type RawFilters = Record<(typeof filterNames)[number], string>

export type ParsedFilters = Required<JobFilters>

/** An address without any of these filters: as it is cleared. */
export const noFilters = Object.fromEntries(filterNames.filter((name) => name !== 'sort').map((name) => [name, ''])) as Omit<RawFilters, 'sort'>

/** Filters out of an address; what makes no sense in it is left out rather than asked for. */
export function parseJobFilters(raw: RawFilters): ParsedFilters {
  return {
    label: raw.label === 'probe' || raw.label === 'all' ? raw.label : 'job',
    state: jobStates.find((state) => state === raw.state) ?? '',
    project: raw.project.trim(),
    name: raw.name.trimStart(),
    type: raw.type.trim(),
    center: raw.center.trim(),
    unit_type: raw.unit_type.trim(),
    submitted_by: raw.submitted_by.trim(),
    submitted_after: parseMoment(raw.submitted_after),
    submitted_before: parseMoment(raw.submitted_before),
    sort: knownWord(jobSorts, raw.sort) ?? defaultSort,
  }
}
const defaultSort: JobSort = '-submitted'

/** Of those that are shown when more are asked for. */
export function hasMoreFilters(filters: ParsedFilters): boolean {
  return [filters.type, filters.center, filters.unit_type, filters.submitted_by, filters.submitted_after, filters.submitted_before].some(Boolean)
}

export function isFiltered(filters: ParsedFilters): boolean {
  return filters.label !== 'job' || filters.state !== '' || filters.project !== '' || filters.name !== '' || hasMoreFilters(filters)
}

/** By what jobs are counted instead of being listed; null: they are listed. */
export function parseJobGrouping(raw: string): JobGroups['by'] | null {
  return knownWord(jobGroupings, raw)
}
