import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { type Dispatch, type SetStateAction, useState } from 'react'
import { en } from '../i18n/en'
import { LanguageProvider } from '../i18n/language'
import type * as Csv from './csv'
import { DataTable } from './data_table'

const { saveFile } = vi.hoisted(() => ({ saveFile: vi.fn() }))
vi.mock('./csv', async (original) => ({ ...await original<typeof Csv>(), saveFile }))

beforeAll(() => {
  // jsdom cannot scroll.
  vi.stubGlobal('scrollTo', () => undefined)
})
afterEach(() => {
  cleanup()
  localStorage.clear()
  window.history.replaceState(null, '', '/')
})

const rows = [{ id: 'a', n: 1 }, { id: 'b', n: 2 }]
const columns = [
  { id: 'id', title: 'Id', cell: (row: { id: string }) => row.id }, { id: 'n', title: 'Number', cell: (row: { n: number }) => row.n, isHidden: true }]

function show(selection?: { chosen: ReadonlySet<string>; change: Dispatch<SetStateAction<ReadonlySet<string>>>; can: (row: { id: string }) => boolean }) {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <DataTable name="test" label="Rows" columns={columns} rows={rows} rowKey={(row) => row.id} tools={<span>filters</span>} {...(selection ? { selection } : {})} />
      </LanguageProvider>
    </MantineProvider>)
}

it('shows the columns that are not hidden, under headings', () => {
  show()
  expect(screen.getAllByRole('columnheader').map((cell) => cell.textContent)).toEqual(['Id'])
  expect(screen.getAllByRole('cell').map((cell) => cell.textContent)).toEqual(['a', 'b'])
})

it('saves the rows of a plain table, too, where it has plain values', () => {
  const table = (hasValues: boolean) => (
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <DataTable isPlain name="test" label="Rows" rows={rows} rowKey={(row) => row.id}
          columns={[{ id: 'id', title: 'Id', cell: (row: { id: string }) => row.id, ...(hasValues ? { csv: (row: { id: string }) => row.id } : {}) }, { id: 'n', title: 'Number', cell: (row: { n: number }) => row.n }]} />
      </LanguageProvider>
    </MantineProvider>)
  const { rerender } = render(table(false))
  expect(screen.queryByRole('button')).toBeNull()
  rerender(table(true))
  fireEvent.click(screen.getByRole('button', { name: 'CSV' }))
  expect(saveFile).toHaveBeenCalledWith('test.csv', 'id\r\na\r\nb\r\n')
})

it('chooses only what may be chosen', () => {
  const change = vi.fn()
  show({ chosen: new Set(), change, can: (row) => row.id === 'b' })
  expect(screen.getByLabelText<HTMLInputElement>('Select a').disabled).toBe(true)
  fireEvent.click(screen.getByLabelText('Select all that are shown'))
  expect(change).toHaveBeenCalledWith(new Set(['b']))
})

it('draws no row again when one is chosen', () => {
  const cell = vi.fn((row: { id: string }) => row.id)
  const kept = [{ id: 'id', title: 'Id', cell }]
  function Chooser() {
    const [chosen, change] = useState<ReadonlySet<string>>(new Set())
    return (
      <DataTable name="test" label="Rows" columns={kept} rows={rows} rowKey={(row) => row.id}
        selection={{ chosen, change, can: () => true }} />
    )
  }
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}><Chooser /></LanguageProvider>
    </MantineProvider>)
  cell.mockClear()
  fireEvent.click(screen.getByLabelText('Select b'))
  expect(screen.getByLabelText<HTMLInputElement>('Select b').checked).toBe(true)
  expect(screen.getByLabelText<HTMLInputElement>('Select a').checked).toBe(false)
  expect(cell).not.toHaveBeenCalled()
  fireEvent.click(screen.getByLabelText('Select b'))
  expect(screen.getByLabelText<HTMLInputElement>('Select b').checked).toBe(false)
})

const many = Array.from({ length: 230 }, (_, i) => ({ id: `row ${i}`, n: i }))

function showMany(more: { rowsAtFirst?: number; pages?: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown } }) {
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <DataTable name="test" label="Rows" columns={columns} rows={many} rowKey={(row) => row.id} {...more} />
      </LanguageProvider>
    </MantineProvider>)
}

const moreButton = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Load more: Rows' })

// Other programs may have the processors.
const longWait = { timeout: 15_000 }

/** Asks for more and waits until that has been done. */
async function loadMore() {
  fireEvent.click(moreButton())
  await waitFor(() => expect(screen.queryByRole<HTMLButtonElement>('button', { name: 'Load more: Rows' })?.disabled ?? false).toBe(false), longWait)
}

it('draws a long list in parts', async () => {
  showMany({})
  expect(screen.getAllByRole('cell')).toHaveLength(50)
  screen.getByText('50 shown, there are more')
  await loadMore()
  expect(screen.getAllByRole('cell')).toHaveLength(150)
  await loadMore()
  expect(screen.getAllByRole('cell')).toHaveLength(230)
  expect(screen.queryByText('Load more')).toBeNull()
})

it('draws fewer rows at first where a page has many tables', () => {
  showMany({ rowsAtFirst: 10 })
  expect(screen.getByText('Load more').closest('button')?.getAttribute('aria-label')).toBe('Load more: Rows')
  expect(screen.getAllByRole('cell')).toHaveLength(10)
})

it('shows that the click was heard before it asks for rows or draws them, and gives the focus back', async () => {
  let end: () => void = () => undefined
  const fetchNextPage = vi.fn(() => new Promise<void>((resolve) => {
    end = resolve
  }))
  const cell = vi.fn((row: { id: string }) => row.id)
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <DataTable name="test" label="Rows" columns={[{ id: 'id', title: 'Id', cell }]} rows={rows} rowKey={(row) => row.id}
          pages={{ hasNextPage: true, isFetchingNextPage: false, fetchNextPage }} />
      </LanguageProvider>
    </MantineProvider>)
  moreButton().focus()
  cell.mockClear()
  fireEvent.click(moreButton())
  expect(moreButton().hasAttribute('data-loading')).toBe(true)
  expect(fetchNextPage).not.toHaveBeenCalled()
  expect(cell).not.toHaveBeenCalled()
  await waitFor(() => expect(fetchNextPage).toHaveBeenCalledTimes(1), longWait)
  expect(moreButton().disabled).toBe(true)
  // What is disabled loses the focus in browsers, and keeps it in jsdom, which lets only what could have it lose it.
  moreButton().setAttribute('tabindex', '-1')
  moreButton().blur()
  expect(document.activeElement).toBe(document.body)
  end()
  await waitFor(() => expect(document.activeElement).toBe(moreButton()), longWait)
  expect(moreButton().disabled).toBe(false)
})

it('asks for the next page once all rows that are here are drawn', async () => {
  const fetchNextPage = vi.fn()
  showMany({ pages: { hasNextPage: true, isFetchingNextPage: false, fetchNextPage } })
  await loadMore()
  await loadMore()
  expect(screen.getAllByRole('cell')).toHaveLength(230)
  expect(fetchNextPage).not.toHaveBeenCalled()
  screen.getByText('230 shown, there are more')
  await loadMore()
  expect(fetchNextPage).toHaveBeenCalledTimes(1)
})

it('does not say that there is nothing while there are pages that it does not have', async () => {
  const fetchNextPage = vi.fn()
  const table = (hasNextPage: boolean) => (
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <DataTable name="test" label="Rows" columns={columns} rows={rows.slice(0, 0)} rowKey={(row) => row.id} empty={<p>Nothing</p>}
          pages={{ hasNextPage, isFetchingNextPage: false, fetchNextPage }} />
      </LanguageProvider>
    </MantineProvider>)
  const { rerender } = render(table(true))
  expect(screen.queryByText('Nothing')).toBeNull()
  screen.getByText('0 shown, there are more')
  await loadMore()
  expect(fetchNextPage).toHaveBeenCalledTimes(1)
  rerender(table(false))
  screen.getByText('Nothing')
  expect(screen.queryByText('Load more')).toBeNull()
})

// jsdom has no layout: menus open, but count as hidden, so their items are found by text.
it('saves filters and columns as a view, and shows them again', async () => {
  window.history.replaceState(null, '', '/jobs?state=failed')
  show()
  fireEvent.click(screen.getByRole('button', { name: 'Columns' }))
  fireEvent.click(await screen.findByText('Number'))
  fireEvent.click(screen.getByRole('button', { name: 'Views' }))
  fireEvent.click(await screen.findByText('Save this view…'))
  fireEvent.change(await screen.findByLabelText('Name'), { target: { value: ' Failed ones ' } })
  fireEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(screen.getByRole('button', { name: 'View: Failed ones' })).toBeTruthy()

  cleanup()
  window.history.replaceState(null, '', '/jobs')
  localStorage.removeItem('fathom.columns.test')
  show()
  expect(screen.getAllByRole('columnheader').map((cell) => cell.textContent)).toEqual(['Id'])
  fireEvent.click(screen.getByRole('button', { name: 'Views' }))
  fireEvent.click(await screen.findByText('Failed ones'))
  expect(screen.getAllByRole('columnheader').map((cell) => cell.textContent)).toEqual(['Id', 'Number'])
  expect(window.location.search).toBe('?state=failed')

  fireEvent.click(screen.getByRole('button', { name: 'View: Failed ones' }))
  fireEvent.click(await screen.findByText('Remove view Failed ones'))
  expect(screen.getByRole('button', { name: 'Views' })).toBeTruthy()
})

it('knows a view without hidden columns again after the page was loaded anew', async () => {
  show()
  fireEvent.click(screen.getByRole('button', { name: 'Columns' }))
  fireEvent.click(await screen.findByText('Number'))
  fireEvent.click(screen.getByRole('button', { name: 'Views' }))
  fireEvent.click(await screen.findByText('Save this view…'))
  fireEvent.change(await screen.findByLabelText('Name'), { target: { value: 'All columns' } })
  fireEvent.click(screen.getByRole('button', { name: 'Save' }))
  cleanup()
  show()
  expect(screen.getAllByRole('columnheader').map((cell) => cell.textContent)).toEqual(['Id', 'Number'])
  expect(screen.getByRole('button', { name: 'View: All columns' })).toBeTruthy()
})

it('sorts by a column whose heading is pressed, and back', () => {
  const change = vi.fn()
  const table = (by: string) => (
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <DataTable name="test" label="Rows" columns={[{ id: 'id', title: 'Id', cell: (row: { id: string }) => row.id, sortName: 'id' }]} rows={rows}
          rowKey={(row) => row.id} sort={{ by, change }} />
      </LanguageProvider>
    </MantineProvider>)
  const { rerender } = render(table('-other'))
  expect(screen.getByRole('columnheader').getAttribute('aria-sort')).toBe('none')
  fireEvent.click(screen.getByRole('button', { name: 'Id' }))
  rerender(table('id'))
  expect(screen.getByRole('columnheader').getAttribute('aria-sort')).toBe('ascending')
  fireEvent.click(screen.getByRole('button', { name: 'Id' }))
  expect(change.mock.calls).toEqual([['id'], ['-id']])
  rerender(table('-id'))
  expect(screen.getByRole('columnheader').getAttribute('aria-sort')).toBe('descending')
})
