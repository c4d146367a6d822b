import { expect, it } from 'vitest'
import { addressOf, exportAddress, exportName } from './export_address'

const choice = { format: 'focus' as const, period: '', from: '', until: '', project: '', center: '', version: '1.2', level: '', last_entry: '' }

it('addresses hold what is given, and nothing else', () => {
  expect(addressOf('/x', { a: 'b c', b: '', c: undefined })).toBe('/x?a=b+c')
  expect(exportAddress(choice)).toBe('/api/v1/exports/focus')
  expect(exportAddress({ ...choice, period: '2026-11', version: '1.3', last_entry: '7', level: 'si2k' })).toBe('/api/v1/exports/focus?period=2026-11&version=1.3&last_entry=7')
  expect(exportAddress({ ...choice, format: 'apel', level: 'hepscore23', last_entry: '7', version: '1.3' })).toBe('/api/v1/exports/apel?service_level_type=hepscore23')
  expect(exportName({ ...choice, format: 'apel-summary', period: '2026-11' })).toBe('apel-summary-2026-11.txt')
})
