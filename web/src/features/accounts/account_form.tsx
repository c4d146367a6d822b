import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { type Account, type Role, useChangeAccount, useCreateAccount } from '../../queries/accounts'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { FormDialog } from '../../ui/forms/form_dialog'
import { PasswordChoice, usePasswordChoice } from './new_password'
import { RoleSelect } from './role_select'

/** A name with a password that its owner does not know yet. */
export interface MadePassword {
  name: string
  password: string
}

export function NewAccount({ onMade, onClose }: { onMade: (made: MadePassword | null) => void; onClose: () => void }) {
  const t = useText()
  const create = useCreateAccount()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('user')
  const choice = usePasswordChoice(name.trim())
  const errors = useFieldErrors(create.error)
  return (
    <FormDialog title={t('accounts.new.title')} action={t('accounts.new.do')} error={create.error} busy={create.isPending} canSubmit={name.trim() !== '' && choice.isGood} onClose={onClose}
      onSubmit={() => {
        const password = choice.take()
        create.mutate({ name: name.trim(), role, password }, { onSuccess: () => onMade(choice.isTyped ? null : { name: name.trim(), password }) })
      }}>
      <TextInput label={t('accounts.name')} description={t('accounts.name.hint')} required data-autofocus autoComplete="off" spellCheck={false} maxLength={64} value={name} error={errors.name} onChange={(e) => setName(e.currentTarget.value)} />
      <RoleSelect value={role} onChange={setRole} error={errors.role} />
      <PasswordChoice choice={choice} error={errors.password} />
    </FormDialog>
  )
}

export function NewPassword({ account, onMade, onClose }: { account: Account; onMade: (made: MadePassword | null) => void; onClose: () => void }) {
  const t = useText()
  const change = useChangeAccount()
  const choice = usePasswordChoice(account.name)
  const errors = useFieldErrors(change.error)
  return (
    <FormDialog title={t('accounts.reset.of', { name: account.name })} action={t('accounts.reset.do')} error={change.error} busy={change.isPending} canSubmit={choice.isGood} onClose={onClose}
      onSubmit={() => {
        const password = choice.take()
        change.mutate({ name: account.name, change: { password } }, { onSuccess: () => onMade(choice.isTyped ? null : { name: account.name, password }) })
      }}>
      <p>{t('accounts.reset.what', { name: account.name })}</p>
      <PasswordChoice choice={choice} error={errors.password} />
    </FormDialog>
  )
}

export function ChangeRole({ account, onClose }: { account: Account; onClose: () => void }) {
  const t = useText()
  const change = useChangeAccount()
  const [role, setRole] = useState(account.role)
  const errors = useFieldErrors(change.error)
  return (
    <FormDialog title={t('accounts.change.role.of', { name: account.name })} action={t('form.save')} error={change.error} busy={change.isPending} canSubmit={role !== account.role} onClose={onClose}
      onSubmit={() => change.mutate({ name: account.name, change: { role } }, { onSuccess: onClose })}>
      <RoleSelect value={role} onChange={setRole} error={errors.role} />
    </FormDialog>
  )
}
