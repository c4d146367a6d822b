import { expect, it } from 'vitest'
import { parsePrices, printPrices } from './parse'

it('prices are read from JSON and YAML', async () => {
  const document = { currency: 'EUR', entries: [{ center: '*', unit_type: '*', per_score_hour: '0.10' }] }
  expect((await parsePrices(printPrices(document))).document).toEqual(document)
  expect((await parsePrices('currency: EUR\nentries:\n  - {center: "*", unit_type: "*", per_score_hour: "0.10"}\n')).document).toEqual(document)
})

it('what is none says why', async () => {
  expect((await parsePrices('{"currency":')).problem?.kind).toBe('wrong')
  expect((await parsePrices('- 1')).problem?.kind).toBe('object')
  expect((await parsePrices('')).problem?.kind).toBe('object')
  expect((await parsePrices('{"currency": "EUR"}')).problem?.kind).toBe('missing')
})

it('prices are printed in the order in which one reads them', () => {
  const document = { budgets: [{ alerts_percent: [80, 100], project: 'p', per_month: '1', action: 'warn' as const }], entries: [{ bands: [{ per_unit_hour: '1', days: ['sat' as const, 'sun' as const] }], unit_type: '*', center: '*' }], currency: 'EUR' }
  const printed = printPrices(document)
  expect(JSON.parse(printed)).toEqual(document)
  expect([...printed.matchAll(/"(\w+)":/g)].map((match) => match[1])).toEqual([
    'currency', 'entries', 'center', 'unit_type', 'bands', 'days', 'per_unit_hour', 'budgets', 'project', 'per_month', 'action', 'alerts_percent'])
  expect(printed).toContain('"days": ["sat", "sun"]')
  expect(printed).toContain('"alerts_percent": [80, 100]')
})
