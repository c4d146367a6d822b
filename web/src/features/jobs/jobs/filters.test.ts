import { expect, it } from 'vitest'
import { parseJobFilters } from './filters'

it('filters of an address hold only what REST knows', () => {
  expect(parseJobFilters({ label: 'probe', state: 'running', project: ' p ' })).toEqual({ label: 'probe', state: 'running', project: 'p' })
  expect(parseJobFilters({ label: 'x', state: '<script>', project: '' })).toEqual({ label: 'job', state: '', project: '' })
})
