import { expect, it } from 'vitest'
import { entryOf } from './entry_of'

it('the closest entry prices a unit type', () => {
  const document = { currency: 'EUR', entries: [
    { center: '*', unit_type: '*', per_score_hour: '1' }, { center: 'alpha', unit_type: '*', per_score_hour: '2' },
    { center: 'alpha', unit_type: 'gpu', per_unit_hour: '3' }] }
  expect(entryOf(document, 'alpha', 'gpu')?.per_unit_hour).toBe('3')
  expect(entryOf(document, 'alpha', 'core')?.per_score_hour).toBe('2')
  expect(entryOf(document, 'beta', 'gpu')?.per_score_hour).toBe('1')
  expect(entryOf({ ...document, entries: document.entries.slice(1) }, 'beta', 'gpu')).toBeNull()
})
