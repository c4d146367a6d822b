import { NativeSelect } from '@mantine/core'
import { useText } from '../../i18n/language'
import { type Role, roles } from '../../queries/accounts'

/** The roles, each with what it may in words. */
export function RoleSelect({ value, onChange, error }: { value: Role; onChange: (role: Role) => void; error?: string | undefined }) {
  const t = useText()
  return (
    <NativeSelect label={t('accounts.role')} value={value} error={error} data={roles.map((role) => ({ value: role, label: t(`accounts.role.${role}`) }))}
      onChange={(event) => onChange(roles.find((role) => role === event.currentTarget.value) ?? 'viewer')} />
  )
}
