import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { ApiError } from '../api/problem'
import { en } from '../i18n/en'
import { LanguageProvider } from '../i18n/language'
import { Ready } from './states'

afterEach(cleanup)

const pending = { isPending: true, isError: false, error: null as unknown, data: undefined as unknown, dataUpdatedAt: 0, isPlaceholderData: false, refetch: () => undefined }
const refused = { ...pending, isPending: false, isError: true, error: new ApiError(400, 'the question has 1 error') }

function show(query: typeof pending) {
  cleanup()
  render(
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <Ready query={query} tools={<input aria-label="Before" />}><p>the list</p></Ready>
      </LanguageProvider>
    </MantineProvider>)
  return { filters: screen.queryAllByLabelText('Before').length, list: screen.queryAllByText('the list').length }
}

it('keeps the filters where the server refuses them', () => {
  expect(show(refused)).toEqual({ filters: 1, list: 0 })
  screen.getByText('the question has 1 error')
  screen.getByText('Try again')
})

it('has the filters once only where there is a list, which brings its own', () => {
  expect(show({ ...pending, isPending: false, data: [] })).toEqual({ filters: 0, list: 1 })
  expect(show(pending)).toEqual({ filters: 0, list: 0 })
})

it('says that an answer is on its way while the list answers an earlier question', () => {
  expect(show({ ...pending, isPending: false, data: [], isPlaceholderData: true })).toEqual({ filters: 0, list: 1 })
  screen.getByRole('status')
  show({ ...pending, isPending: false, data: [], isPlaceholderData: false })
  expect(screen.queryByRole('status')).toBeNull()
})
