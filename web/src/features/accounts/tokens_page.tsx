import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { type Role, roles } from '../../queries/accounts'
import { type CreatedToken, type Token, useCreateToken, useRevokeToken, useTokens } from '../../queries/tokens'
import { ConfirmByTyping } from '../../ui/confirm_by_typing'
import { CutMark } from '../../ui/cut_list'
import { type Column, DataTable } from '../../ui/data_table'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { FormDialog } from '../../ui/forms/form_dialog'
import { SecretOnce } from '../../ui/forms/secret_once'
import { TextFilter } from '../../ui/forms/text_filter'
import { Page } from '../../ui/page'
import { EmptyState, NoneFits, Ready } from '../../ui/states'
import { StatePill, type Tone } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { roleName } from './role_name'
import { RoleSelect } from './role_select'
import { filterTokens, noTokenFilters, parseTokenFilters, tokenFilterNames } from './token_filters'
import { type TokenState, tokenState } from './token_state'

const tones: Record<TokenState, Tone> = { works: 'good', revoked: 'idle', expired: 'warn' }

/** By which programs use this server. */
export function TokensPage() {
  const t = useText()
  const [raw, change] = useFilters(tokenFilterNames)
  const filters = parseTokenFilters(raw)
  const query = useTokens()
  const revoke = useRevokeToken()
  const [isNew, setNew] = useState(false)
  const [made, setMade] = useState<CreatedToken | null>(null)
  const [revoking, setRevoking] = useState<Token | null>(null)
  const now = query.dataUpdatedAt
  const all = query.data ?? []
  const columns: Column<Token>[] = [
    { id: 'name', title: t('tokens.name'), cell: (k) => k.name, csv: (k) => k.name },
    { id: 'id', title: t('ui.id'), cell: (k) => <code>{k.id}</code>, csv: (k) => k.id },
    { id: 'role', title: t('accounts.role'), cell: (k) => roleName(t, k.role), csv: (k) => k.role },
    { id: 'state', title: t('accounts.state'), cell: (k) => <StatePill tone={tones[tokenState(k, now)]}>{t(`tokens.state.${tokenState(k, now)}`)}</StatePill>, csv: (k) => tokenState(k, now) },
    { id: 'created_at', title: t('tokens.created'), cell: (k) => <Time at={k.created_at} />, csv: (k) => k.created_at },
    { id: 'created_by', title: t('tokens.by'), isHidden: true, cell: (k) => <code>{k.created_by}</code>, csv: (k) => k.created_by },
    { id: 'expires_at', title: t('tokens.expires'), cell: (k) => (k.expires_at ? <Time at={k.expires_at} /> : t('tokens.expires.never')), csv: (k) => k.expires_at },
    { id: 'revoked_at', title: t('tokens.revoked'), isHidden: true, cell: (k) => <Time at={k.revoked_at} />, csv: (k) => k.revoked_at },
    { id: 'revoke', title: t('form.actions'), cell: (k) => (tokenState(k, now) === 'works' ? (
      <Button size="compact-xs" aria-label={`${t('tokens.revoke')} ${k.name}`} onClick={() => {
        revoke.reset()
        setRevoking(k)
      }}>{t('tokens.revoke')}</Button>
    ) : null) },
  ]
  return (
    <Page title={t('tokens.title')} actions={<Button variant="filled" onClick={() => setNew(true)}>{t('tokens.new')}</Button>}>
      <Ready query={query}>
        <CutMark list={query} name={t('tokens.title')} />
        <DataTable name="tokens" label={t('tokens.title')} columns={columns} rows={filterTokens(all, filters, now)} rowKey={(k) => k.id}
          tools={
            <>
              <TextFilter label={t('tokens.name')} value={filters.name} onChange={(name) => change({ name })} />
              <NativeSelect label={t('accounts.role')} value={filters.role} onChange={(e) => change({ role: e.currentTarget.value })}
                data={[{ value: '', label: t('ui.any') }, ...roles.map((role) => ({ value: role, label: roleName(t, role) }))]} />
              <NativeSelect label={t('tokens.show')} value={filters.show} onChange={(e) => change({ show: e.currentTarget.value })}
                data={[{ value: '', label: t('tokens.show.works') }, { value: 'all', label: t('tokens.show.all') }]} />
            </>
          }
          empty={all.length > 0 && (filters.name || filters.role)
            ? <NoneFits onClear={() => change(noTokenFilters)} />
            : <EmptyState title={t('tokens.none')}>{t('tokens.none.hint')}</EmptyState>} />
      </Ready>
      {isNew ? <NewToken onClose={() => setNew(false)} onMade={(token) => {
        setNew(false)
        setMade(token)
      }} /> : null}
      {made?.token ? <SecretOnce title={t('tokens.made', { name: made.name })} secret={made.token} onClose={() => setMade(null)}><p>{t('tokens.made.use')}</p></SecretOnce> : null}
      {revoking ? (
        <ConfirmByTyping opened title={t('tokens.revoke.of', { name: revoking.name })} target={revoking.name} action={t('tokens.revoke.do')} error={revoke.error} busy={revoke.isPending}
          onClose={() => setRevoking(null)} onConfirm={() => revoke.mutate(revoking.id, { onSuccess: () => setRevoking(null) })}>
          <p>{t('tokens.revoke.what', { id: revoking.id })}</p>
        </ConfirmByTyping>
      ) : null}
    </Page>
  )
}

const days = [1, 7, 30, 90, 365] as const

function NewToken({ onMade, onClose }: { onMade: (token: CreatedToken) => void; onClose: () => void }) {
  const t = useText()
  const create = useCreateToken()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('user')
  const [valid, setValid] = useState('90')
  const errors = useFieldErrors(create.error)
  return (
    <FormDialog title={t('tokens.new.title')} action={t('tokens.new.do')} error={create.error} busy={create.isPending} canSubmit={name.trim() !== ''} onClose={onClose}
      onSubmit={() => create.mutate({ name: name.trim(), role, ...(valid ? { valid_s: Number(valid) * 86_400 } : {}) }, { onSuccess: onMade })}>
      <TextInput label={t('tokens.name')} required data-autofocus autoComplete="off" maxLength={128} value={name} error={errors.name} onChange={(e) => setName(e.currentTarget.value)} />
      <RoleSelect value={role} onChange={setRole} error={errors.role} />
      <NativeSelect label={t('tokens.valid')} value={valid} error={errors.valid_s} onChange={(e) => setValid(e.currentTarget.value)}
        data={[...days.map((n) => ({ value: String(n), label: t('tokens.valid.days', { n }) })), { value: '', label: t('tokens.valid.ever') }]} />
    </FormDialog>
  )
}
