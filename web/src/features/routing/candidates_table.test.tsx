import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import type { Candidate, Decision } from '../../queries/placement_preview'
import { CandidatesTable } from './candidates_table'

afterEach(cleanup)

const candidate = (center: string, change: Partial<Candidate> = {}) => ({
  unit_type_id: `unt_${center}`, unit_type: 'core', center_id: `ctr_${center}`, center, feasible: true, reason: '', unit_count: 1, ...change }) as Candidate

function cellsOf(title: string, ...candidates: Candidate[]): string[] | null {
  cleanup()
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><CandidatesTable decision={{ winner: 0, candidates, assumptions: [] } as unknown as Decision} /></LanguageProvider>
    </MantineProvider>)
  const column = screen.getAllByRole('columnheader').findIndex((heading) => heading.textContent === title)
  return column < 0 ? null : screen.getAllByRole('row').slice(1).map((row) => row.children[column]?.textContent ?? '')
}

it('shows what each place would take of energy, by which jobs may be placed', () => {
  expect(cellsOf('Energy', candidate('alpha', { energy_j: 7.2e6 }), candidate('beta'))).toEqual(['2.00 kWh', '–'])
})

it('has no column of what is known of no place', () => {
  expect(cellsOf('Energy', candidate('alpha'), candidate('beta'))).toBeNull()
  expect(cellsOf('Cost', candidate('alpha'), candidate('beta'))).toBeNull()
  expect(cellsOf('Cost', candidate('alpha', { cost: { amount: '1.20', currency: 'EUR' } }))).toEqual(['1.20 EUR'])
})
