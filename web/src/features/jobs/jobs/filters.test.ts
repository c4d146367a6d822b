import { expect, it } from 'vitest'
import { parseJobFilters, parseJobGrouping } from './filters'

it('filters of an address hold only what REST knows', () => {
  expect(parseJobFilters({ label: 'probe', state: 'running', project: ' p ', sort: '-name' })).toEqual({ label: 'probe', state: 'running', project: 'p', sort: '-name' })
  expect(parseJobFilters({ label: 'x', state: '<script>', project: '', sort: 'colour' })).toEqual({ label: 'job', state: '', project: '', sort: '-submitted' })
})

it('jobs are counted by what REST can count them by', () => {
  expect([parseJobGrouping('center'), parseJobGrouping(''), parseJobGrouping('name')]).toEqual(['center', null, null])
})
