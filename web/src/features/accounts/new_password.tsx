import { PasswordInput, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { generatePassword, isGoodPassword } from './password'

/** A password that is generated when it is needed, or typed. */
export function usePasswordChoice(name: string) {
  const [isTyped, setTyped] = useState(false)
  const [typed, type] = useState('')
  return {
    isTyped, setTyped, typed, type,
    isGood: !isTyped || isGoodPassword(typed, name),
    /** The password to send; a generated one is another one each time. */
    take: () => (isTyped ? typed : generatePassword()),
  }
}

export function PasswordChoice({ choice, error }: { choice: ReturnType<typeof usePasswordChoice>; error?: string | undefined }) {
  const t = useText()
  return (
    <>
      <SegmentedControl fullWidth aria-label={t('accounts.password.how')} value={choice.isTyped ? 'type' : 'generate'} onChange={(value) => choice.setTyped(value === 'type')}
        data={[{ value: 'generate', label: t('accounts.password.generate') }, { value: 'type', label: t('accounts.password.type') }]} />
      {choice.isTyped ? (
        <PasswordInput label={t('accounts.password')} description={t('accounts.password.hint')} autoComplete="new-password" required value={choice.typed}
          error={error} onChange={(event) => choice.type(event.currentTarget.value)} />
      ) : error ? <p role="alert">{error}</p> : null}
    </>
  )
}
