import { Button, PasswordInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { changePassword } from '../../api/session'
import { useText } from '../../i18n/language'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { ErrorState } from '../../ui/states'
import { isGoodPassword } from '../accounts/password'
import styles from './settings.module.css'

const empty = { old: '', next: '', again: '' }

/** Changes the password of who is signed in. */
export function PasswordForm({ name }: { name: string }) {
  const t = useText()
  const [typed, setTyped] = useState(empty)
  const change = useMutation({ mutationFn: () => changePassword(typed.old, typed.next), gcTime: 0, onSuccess: () => setTyped(empty) })
  const errors = useFieldErrors(change.error)
  const differs = typed.again !== '' && typed.again !== typed.next
  const set = (part: Partial<typeof typed>) => setTyped({ ...typed, ...part })
  function submit(event: FormEvent) {
    event.preventDefault()
    change.mutate()
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
      <PasswordInput label={t('settings.password.old')} required autoComplete="current-password" value={typed.old} error={errors.old_password} onChange={(e) => set({ old: e.currentTarget.value })} />
      <PasswordInput label={t('settings.password.new')} description={t('accounts.password.hint')} required autoComplete="new-password" value={typed.next} error={errors.new_password} onChange={(e) => set({ next: e.currentTarget.value })} />
      <PasswordInput label={t('settings.password.again')} required autoComplete="new-password" value={typed.again} error={differs ? t('settings.password.differs') : undefined} onChange={(e) => set({ again: e.currentTarget.value })} />
      {change.error ? <ErrorState error={change.error} /> : null}
      {change.isSuccess && typed === empty ? <p role="status">{t('settings.password.done')}</p> : null}
      <div><Button type="submit" variant="filled" loading={change.isPending} disabled={typed.old === '' || typed.again !== typed.next || !isGoodPassword(typed.next, name)}>{t('settings.password.do')}</Button></div>
    </form>
  )
}
