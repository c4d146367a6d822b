import { Button, Menu, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type Account, roles, useAccounts, useChangeAccount, useRemoveAccount } from '../../queries/accounts'
import { ConfirmByTyping } from '../../ui/confirm_by_typing'
import { CutMark } from '../../ui/cut_list'
import { type Column, DataTable } from '../../ui/data_table'
import { SecretOnce } from '../../ui/forms/secret_once'
import { TextFilter } from '../../ui/forms/text_filter'
import { Page } from '../../ui/page'
import { EmptyState, ErrorState, Ready } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { ChangeRole, type MadePassword, NewAccount, NewPassword } from './account_form'
import { roleName } from './role_name'
import { filterUsers, noUserFilters, parseUserFilters, userFilterNames } from './user_filters'

type Act = 'new' | { kind: 'role' | 'password' | 'disable' | 'remove'; account: Account }

/** Who signs in to this console, with a password or by a provider, which then decides on the role. */
export function UsersPage() {
  const t = useText()
  const [raw, filter] = useFilters(userFilterNames)
  const filters = parseUserFilters(raw)
  const query = useAccounts()
  const all = query.data ?? []
  const enable = useChangeAccount()
  const [act, setAct] = useState<Act | null>(null)
  const [made, setMade] = useState<MadePassword | null>(null)
  const columns = useColumns(setAct, (account) => enable.mutate({ name: account.name, change: { disabled: false } }))
  const close = () => setAct(null)
  const show = (password: MadePassword | null) => {
    close()
    setMade(password)
  }
  return (
    <Page title={t('accounts.title')} actions={<Button variant="filled" onClick={() => setAct('new')}>{t('accounts.new')}</Button>}>
      {enable.error ? <ErrorState error={enable.error} /> : null}
      <Ready query={query}>
        <CutMark list={query} name={t('accounts.title')} />
        <DataTable name="users" label={t('accounts.title')} columns={columns} rows={filterUsers(all, filters)} rowKey={(a) => a.name}
          tools={
            <>
              <TextFilter label={t('accounts.name')} value={filters.name} onChange={(name) => filter({ name })} />
              <NativeSelect label={t('accounts.role')} value={filters.role} onChange={(e) => filter({ role: e.currentTarget.value })}
                data={[{ value: '', label: t('ui.any') }, ...roles.map((role) => ({ value: role, label: roleName(t, role) }))]} />
              <NativeSelect label={t('accounts.state')} value={filters.state} onChange={(e) => filter({ state: e.currentTarget.value })}
                data={[{ value: '', label: t('ui.any') }, { value: 'enabled', label: t('accounts.state.on') }, { value: 'disabled', label: t('accounts.state.off') }]} />
            </>
          }
          empty={all.length > 0
            ? <EmptyState title={t('accounts.none.filter')} action={<Button onClick={() => filter(noUserFilters)}>{t('accounts.none.clear')}</Button>} />
            : <EmptyState title={t('accounts.none')} action={<Button onClick={() => setAct('new')}>{t('accounts.new')}</Button>}>{t('accounts.none.hint')}</EmptyState>} />
      </Ready>
      {act === 'new' ? <NewAccount onMade={show} onClose={close} /> : null}
      {act && act !== 'new' ? <AccountAct kind={act.kind} account={act.account} onMade={show} onClose={close} /> : null}
      {made ? <SecretOnce title={t('accounts.password.made', { name: made.name })} secret={made.password} onClose={() => setMade(null)}><p>{t('accounts.password.give', { name: made.name })}</p></SecretOnce> : null}
    </Page>
  )
}

function useColumns(onAct: (act: Act) => void, onEnable: (account: Account) => void): Column<Account>[] {
  const t = useText()
  const { session } = useSession()
  return [
    { id: 'name', title: t('accounts.name'), cell: (a) => <>{a.name}{a.name === session.account ? <span className="dim"> ({t('accounts.self')})</span> : null}</>, csv: (a) => a.name },
    { id: 'role', title: t('accounts.role'), cell: (a) => roleName(t, a.role), csv: (a) => a.role },
    { id: 'state', title: t('accounts.state'), cell: (a) => <StatePill tone={a.disabled_at ? 'idle' : 'good'}>{t(a.disabled_at ? 'accounts.state.off' : 'accounts.state.on')}</StatePill>, csv: (a) => (a.disabled_at ? 'disabled' : 'enabled') },
    { id: 'issuer', title: t('accounts.by'), cell: (a) => a.issuer?.replace('https://', '') ?? t('accounts.by.password'), csv: (a) => a.issuer },
    { id: 'last_sign_in_at', title: t('accounts.last'), cell: (a) => (a.last_sign_in_at ? <Time at={a.last_sign_in_at} /> : t('accounts.never')), csv: (a) => a.last_sign_in_at },
    { id: 'created_at', title: t('accounts.created'), cell: (a) => <Time at={a.created_at} />, csv: (a) => a.created_at },
    { id: 'token_id', title: t('accounts.identity'), cell: (a) => <code>{a.token_id}</code>, csv: (a) => a.token_id },
    { id: 'actions', title: t('form.actions'), cell: (a) => (
      <Menu position="bottom-end" withInitialFocusPlaceholder={false} transitionProps={{ duration: 0 }}>
        <Menu.Target><Button size="compact-xs" aria-label={`${t('accounts.actions')} ${a.name}`}>{t('accounts.actions')}</Button></Menu.Target>
        <Menu.Dropdown>
          {a.issuer ? null : (
            <>
              <Menu.Item onClick={() => onAct({ kind: 'role', account: a })}>{t('accounts.change.role')}</Menu.Item>
              <Menu.Item onClick={() => onAct({ kind: 'password', account: a })}>{t('accounts.reset')}</Menu.Item>
            </>
          )}
          {a.disabled_at ? <Menu.Item onClick={() => onEnable(a)}>{t('accounts.enable')}</Menu.Item>
            : <Menu.Item onClick={() => onAct({ kind: 'disable', account: a })}>{t('accounts.disable')}</Menu.Item>}
          <Menu.Item onClick={() => onAct({ kind: 'remove', account: a })}>{t('accounts.remove')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    ) },
  ]
}

function AccountAct(props: { kind: 'role' | 'password' | 'disable' | 'remove'; account: Account; onMade: (made: MadePassword | null) => void; onClose: () => void }) {
  const { kind, account, onMade, onClose } = props
  const t = useText()
  const change = useChangeAccount()
  const remove = useRemoveAccount()
  const { name } = account
  if (kind === 'role') return <ChangeRole account={account} onClose={onClose} />
  if (kind === 'password') return <NewPassword account={account} onMade={onMade} onClose={onClose} />
  const asked = kind === 'disable' ? change : remove
  return (
    <ConfirmByTyping opened title={t(`accounts.${kind}.of`, { name })} target={name} action={t(`accounts.${kind}.do`)} error={asked.error} busy={asked.isPending} onClose={onClose}
      onConfirm={() => (kind === 'disable' ? change.mutate({ name, change: { disabled: true } }, { onSuccess: onClose }) : remove.mutate(name, { onSuccess: onClose }))}>
      <p>{t(`accounts.${kind}.what`, { name, identity: account.token_id })}</p>
    </ConfirmByTyping>
  )
}
