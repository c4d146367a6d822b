import { MantineProvider } from '@mantine/core'
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { en } from '../i18n/en'
import { LanguageProvider } from '../i18n/language'
import { ConfirmByTyping } from './confirm_by_typing'

afterEach(cleanup)

function dialog(opened: boolean, onConfirm: () => void) {
  return (
    <MantineProvider env="test">
      <LanguageProvider language="en" dictionary={en}>
        <ConfirmByTyping opened={opened} title="Revoke beta" target="beta" action="Revoke" onConfirm={onConfirm} onClose={() => undefined}>
          <p>It is cut off.</p>
        </ConfirmByTyping>
      </LanguageProvider>
    </MantineProvider>)
}

const field = () => screen.getByLabelText<HTMLInputElement>('Type beta to confirm')
// jsdom has no layout: a dialog opens, but counts as hidden.
const button = () => screen.getByText('Revoke').closest('button') as HTMLButtonElement

it('does it only once the target is typed as it is', () => {
  const confirm = vi.fn()
  render(dialog(true, confirm))
  fireEvent.change(field(), { target: { value: 'Beta' } })
  expect(button().disabled).toBe(true)
  fireEvent.submit(field())
  expect(confirm).not.toHaveBeenCalled()
  fireEvent.change(field(), { target: { value: 'beta' } })
  expect(button().disabled).toBe(false)
  fireEvent.submit(field())
  expect(confirm).toHaveBeenCalledTimes(1)
})

it('asks for the target anew after it was done', () => {
  const { rerender } = render(dialog(true, () => undefined))
  fireEvent.change(field(), { target: { value: 'beta' } })
  rerender(dialog(false, () => undefined))
  rerender(dialog(true, () => undefined))
  expect(field().value).toBe('')
  expect(button().disabled).toBe(true)
})
