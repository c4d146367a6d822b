import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import { ChangeRows } from './change_rows'
import type { ChangeRow } from './choices'

const { useUnitTypes } = vi.hoisted(() => ({ useUnitTypes: vi.fn() }))
vi.mock('../../queries/unit_types', () => ({ useUnitTypes }))

beforeEach(() => {
  useUnitTypes.mockReset()
  useUnitTypes.mockImplementation((center: string, enabled: boolean) => ({ data: enabled ? [{ name: `core of ${center}` }] : undefined }))
})
afterEach(cleanup)

function show(rows: readonly ChangeRow[]) {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <ChangeRows rows={rows} wrong={[]} complaint="" centers={['alpha', 'beta']} onChange={() => undefined} />
      </LanguageProvider>
    </MantineProvider>)
}

const offered = (label: string) => [...screen.getByLabelText<HTMLSelectElement>(label).options].map((option) => option.text)
const row = (change: Partial<ChangeRow>): ChangeRow => ({ kind: 'scale_units', center: '', unitType: '', value: '2', ...change })

it('offers the centers of the network, and the unit types of the one that is chosen', () => {
  show([row({ center: 'beta' })])
  expect(offered('Center')).toEqual(['choose', 'alpha', 'beta'])
  expect(offered('Unit type')).toEqual(['all of the center', 'core of beta'])
})

it('asks for no unit types while no center is chosen, nor where a change has none', () => {
  show([row({}), row({ kind: 'remove_center', center: 'alpha' })])
  expect(useUnitTypes.mock.calls).toEqual([['', false], ['alpha', false]])
})

it('says where the unit types of a center cannot be read, with a way to try again', () => {
  const refetch = vi.fn()
  useUnitTypes.mockReturnValue({ data: undefined, isError: true, error: new Error('no answer'), refetch })
  show([row({ center: 'beta' })])
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }))
  expect(refetch).toHaveBeenCalledTimes(1)
})

it('of a center that is added, offers the unit types of the one that it is as', () => {
  show([row({ kind: 'add_center', center: 'gamma', value: 'alpha' }), row({ center: 'gamma' })])
  expect(offered('Unit type')).toEqual(['all of the center', 'core of alpha'])
})
