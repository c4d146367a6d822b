import { expect, it } from 'vitest'
import { filterQuery } from '../../../queries/jobs'
import { hasMoreFilters, isFiltered, noFilters, parseJobFilters, parseJobGrouping } from './filters'

const none = { ...noFilters, sort: '' }

it('filters of an address hold only what REST knows', () => {
  expect(parseJobFilters({ ...none, label: 'probe', state: 'running', project: ' p ', sort: '-name', submitted_after: '2026-11-01T00:00:00Z' }))
    .toMatchObject({ label: 'probe', state: 'running', project: 'p', sort: '-name', submitted_after: '2026-11-01T00:00:00Z' })
  expect(parseJobFilters({ ...none, label: 'x', state: '<script>', sort: 'colour', submitted_after: 'yesterday', submitted_before: '2026-13-01T00:00:00Z' }))
    .toMatchObject({ label: 'job', state: '', project: '', sort: '-submitted', submitted_after: '', submitted_before: '' })
})

it('REST is asked with those filters only that there are', () => {
  expect(filterQuery(parseJobFilters(none))).toEqual({ label: 'job' })
  const given = { project: 'p', name: 'train', type: 'md', center: 'alpha', unit_type: 'alpha/core', submitted_by: 'tok_1',
    submitted_after: '2026-11-01T00:00:00Z', submitted_before: '2026-11-02T00:00:00Z' }
  expect(filterQuery(parseJobFilters({ ...none, ...given, label: 'all', state: 'lost' }))).toEqual({ label: 'all', state: 'lost', ...given })
})

it('a list is filtered by any of its filters, and not by its order', () => {
  expect(isFiltered(parseJobFilters({ ...none, sort: 'name' }))).toBe(false)
  for (const one of [{ name: 'a' }, { label: 'all' }, { state: 'lost' }, { submitted_by: 'tok_1' }]) {
    expect(isFiltered(parseJobFilters({ ...none, ...one }))).toBe(true)
  }
  expect(hasMoreFilters(parseJobFilters({ ...none, name: 'a', state: 'lost' }))).toBe(false)
  expect(hasMoreFilters(parseJobFilters({ ...none, unit_type: 'alpha/core' }))).toBe(true)
})

it('jobs are counted by what REST can count them by', () => {
  expect([parseJobGrouping('center'), parseJobGrouping(''), parseJobGrouping('name')]).toEqual(['center', null, null])
})
