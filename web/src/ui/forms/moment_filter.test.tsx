import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { useState } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { en } from '../../i18n/en'
import { LanguageProvider } from '../../i18n/language'
import { MomentFilter } from './moment_filter'

afterEach(cleanup)

/** A page whose address holds the filter. */
function Shown({ onChange }: { onChange: (iso: string) => void }) {
  const [value, setValue] = useState('2026-11-01T08:00:00Z')
  return (
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <MomentFilter label="From" value={value} onChange={(iso) => {
          onChange(iso)
          setValue(iso)
        }} />
      </LanguageProvider>
    </MantineProvider>)
}
const field = () => screen.getByLabelText<HTMLInputElement>('From (in UTC)')

it('asks for nothing that is typed on the way: the year 0002 of 2026, or a day that was taken out', () => {
  const change = vi.fn()
  render(<Shown onChange={change} />)
  field().focus()
  for (const value of ['0002-11-01T08:00', '0020-11-01T08:00', '', '2027-11-01T08:00']) fireEvent.change(field(), { target: { value } })
  expect(change).not.toHaveBeenCalled()
  fireEvent.submit(field())
  expect(change.mock.calls).toEqual([['2027-11-01T08:00:00Z']])
  expect(document.activeElement).toBe(field())
})

it('holds when the field is left, also when it was emptied', () => {
  const change = vi.fn()
  render(<Shown onChange={change} />)
  fireEvent.blur(field())
  expect(change).not.toHaveBeenCalled()
  fireEvent.change(field(), { target: { value: '' } })
  fireEvent.blur(field())
  expect(change.mock.calls).toEqual([['']])
})
