import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { useState } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { TextFilter } from './text_filter'

afterEach(cleanup)

/** A page whose address holds the filter, and a way to change it besides. */
function Shown({ onChange }: { onChange: (value: string) => void }) {
  const [value, setValue] = useState('')
  return (
    <MantineProvider env="test">
      <TextFilter label="Project" value={value} onChange={(next) => {
        onChange(next)
        setValue(next)
      }} />
      <button type="button" onClick={() => setValue('from outside')}>Back</button>
    </MantineProvider>)
}
const field = () => screen.getByLabelText<HTMLInputElement>('Project')

it('holds once it is whole, and keeps the focus', () => {
  const change = vi.fn()
  render(<Shown onChange={change} />)
  field().focus()
  fireEvent.change(field(), { target: { value: ' ada ' } })
  expect(change).not.toHaveBeenCalled()
  fireEvent.submit(field())
  expect(change).toHaveBeenCalledWith('ada')
  expect(field().value).toBe('ada')
  expect(document.activeElement).toBe(field())
  fireEvent.submit(field())
  expect(change).toHaveBeenCalledTimes(1)
})

it('holds when the field is left, and follows what changes it from outside', () => {
  const change = vi.fn()
  render(<Shown onChange={change} />)
  fireEvent.change(field(), { target: { value: 'ada' } })
  fireEvent.blur(field())
  expect(change).toHaveBeenCalledWith('ada')
  fireEvent.click(screen.getByText('Back'))
  expect(field().value).toBe('from outside')
})
