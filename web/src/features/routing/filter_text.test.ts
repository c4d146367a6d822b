import { expect, it } from 'vitest'
import { fill } from '../../i18n/language'
import { zh } from '../../i18n/zh'
import { filterText } from './filter_text'

it('a filter has a name in the reader’s language, and one that is not known keeps its own', () => {
  expect(filterText((key) => fill(zh[key]), 'unit_count')).toBe('单元数')
  expect(filterText((key) => fill(zh[key]), 'from_before')).toBe('from_before')
})
