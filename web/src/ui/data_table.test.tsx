import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { en } from '../i18n/en'
import { LanguageProvider } from '../i18n/language'
import { DataTable } from './data_table'

beforeAll(() => {
  // What Mantine asks of a browser and jsdom lacks.
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }))
  vi.stubGlobal('ResizeObserver', class { observe() { return undefined } unobserve() { return undefined } disconnect() { return undefined } })
})
afterEach(cleanup)

const rows = [{ id: 'a', n: 1 }, { id: 'b', n: 2 }]
const columns = [
  { id: 'id', title: 'Id', cell: (row: { id: string }) => row.id }, { id: 'n', title: 'Number', cell: (row: { n: number }) => row.n, isHidden: true }]

function show(selection?: { chosen: ReadonlySet<string>; change: (chosen: ReadonlySet<string>) => void; can: (row: { id: string }) => boolean }) {
  render(
    <MantineProvider>
      <LanguageProvider language="en" dictionary={en}>
        <DataTable name="test" label="Rows" columns={columns} rows={rows} rowKey={(row) => row.id} {...(selection ? { selection } : {})} />
      </LanguageProvider>
    </MantineProvider>)
}

it('shows the columns that are not hidden, under headings', () => {
  show()
  expect(screen.getAllByRole('columnheader').map((cell) => cell.textContent)).toEqual(['Id'])
  expect(screen.getAllByRole('cell').map((cell) => cell.textContent)).toEqual(['a', 'b'])
})

it('chooses only what may be chosen', () => {
  const change = vi.fn()
  show({ chosen: new Set(), change, can: (row) => row.id === 'b' })
  expect(screen.getByLabelText<HTMLInputElement>('Select a').disabled).toBe(true)
  fireEvent.click(screen.getByLabelText('Select all that are shown'))
  expect(change).toHaveBeenCalledWith(new Set(['b']))
})
