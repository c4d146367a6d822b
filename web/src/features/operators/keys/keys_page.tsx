import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useFilters } from '../../../app/router/search'
import { useText } from '../../../i18n/language'
import { type SigningKey, useRevokeSigningKey, useSigningKeys } from '../../../queries/signing_keys'
import { ConfirmByTyping } from '../../../ui/confirm_by_typing'
import { CopyButton } from '../../../ui/copy_button'
import { type Column, DataTable } from '../../../ui/data_table'
import { nothing } from '../../../ui/format'
import { Page } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { StatePill } from '../../../ui/state_pill'
import { Time } from '../../../ui/zone'
import measuring from '../../measuring/measuring.module.css'
import { AddKey } from './add_key'

type Signed = SigningKey['operators'][number]

const nameOf = (signed: Signed) => `${signed.id}@${signed.version}`

/** Whose operators this server takes: the keys that must have signed them. */
export function KeysPage() {
  const t = useText()
  const [raw, change] = useFilters(['show'])
  const query = useSigningKeys()
  const revoke = useRevokeSigningKey()
  const [isAdding, setAdding] = useState(false)
  const [revoking, setRevoking] = useState<SigningKey | null>(null)
  const columns = useKeyColumns((key) => {
    revoke.reset()
    setRevoking(key)
  })
  const all = query.items ?? []
  const keys = all.filter((key) => raw.show === 'all' || key.revoked_at === null)
  const add = <Button variant="filled" onClick={() => setAdding(true)}>{t('keys.add')}</Button>
  const tools = (
    <NativeSelect label={t('keys.show')} value={raw.show === 'all' ? 'all' : ''} onChange={(e) => change({ show: e.currentTarget.value })}
      data={[{ value: '', label: t('keys.show.trusted') }, { value: 'all', label: t('keys.show.all') }]} />
  )
  return (
    <Page title={t('keys.title')} actions={add}>
      <p className={measuring.note}>{t('keys.intro')}</p>
      <Ready query={query} tools={tools}>
        <DataTable name="operator-keys" label={t('keys.title')} columns={columns} rows={keys} rowKey={(key) => key.id} pages={query} tools={tools}
          empty={all.length === 0 ? <EmptyState title={t('keys.none.yet')}>{t('keys.none.hint')}</EmptyState>
            : <EmptyState title={t('keys.none')} action={<Button onClick={() => change({ show: 'all' })}>{`${t('keys.show')}: ${t('keys.show.all')}`}</Button>} />} />
      </Ready>
      {isAdding ? <AddKey onClose={() => setAdding(false)} /> : null}
      {revoking ? (
        <ConfirmByTyping opened title={t('keys.revoke.of', { name: revoking.name })} target={revoking.name} action={t('keys.revoke.do')} error={revoke.error} busy={revoke.isPending}
          onClose={() => setRevoking(null)} onConfirm={() => revoke.mutate(revoking.id, { onSuccess: () => setRevoking(null) })}>
          <p>{t('keys.revoke.what', { id: revoking.id })}</p>
          {revoking.operators.length > 0 ? <p>{t('keys.revoke.stays')} <SignedList signed={revoking.operators} /></p> : null}
        </ConfirmByTyping>
      ) : null}
    </Page>
  )
}

function useKeyColumns(onRevoke: (key: SigningKey) => void): Column<SigningKey>[] {
  const t = useText()
  return [
    { id: 'name', title: t('keys.name'), cell: (k) => k.name, csv: (k) => k.name },
    { id: 'id', title: t('keys.id'), cell: (k) => <code>{k.id}</code>, csv: (k) => k.id },
    { id: 'center', title: t('keys.center'), cell: (k) => k.center ?? nothing, csv: (k) => k.center },
    { id: 'state', title: t('measure.state'), csv: (k) => (k.revoked_at ? 'revoked' : 'trusted'),
      cell: (k) => <StatePill tone={k.revoked_at ? 'idle' : 'good'}>{t(k.revoked_at ? 'keys.state.revoked' : 'keys.state.trusted')}</StatePill> },
    { id: 'operators', title: t('keys.signed'), cell: (k) => (k.operators.length > 0 ? <SignedList signed={k.operators} /> : nothing), csv: (k) => k.operators.map(nameOf).join(' ') },
    { id: 'created_at', title: t('keys.added'), cell: (k) => <Time at={k.created_at} />, csv: (k) => k.created_at },
    { id: 'created_by', title: t('keys.by'), isHidden: true, cell: (k) => <code>{k.created_by}</code>, csv: (k) => k.created_by },
    { id: 'revoked_at', title: t('keys.revoked'), cell: (k) => <Time at={k.revoked_at} />, csv: (k) => k.revoked_at },
    { id: 'revoked_by', title: t('keys.revoked.by'), isHidden: true, cell: (k) => (k.revoked_by ? <code>{k.revoked_by}</code> : nothing), csv: (k) => k.revoked_by },
    { id: 'acts', title: t('form.actions'), cell: (k) => (
      <span className={measuring.inline}>
        <CopyButton value={k.public_key_pem} label={t('keys.copy')} />
        {k.revoked_at ? null : <Button size="compact-xs" aria-label={`${t('keys.revoke')} ${k.name}`} onClick={() => onRevoke(k)}>{t('keys.revoke')}</Button>}
      </span>) },
  ]
}

/** What a key signed, each a link to where it is withdrawn. */
function SignedList({ signed }: { signed: readonly Signed[] }) {
  return <>{signed.map((one, i) => (
    <span key={nameOf(one)}>{i > 0 ? ', ' : ''}<Link className="in-text" href={`${pathTo('/operators/:id', { id: one.id })}?version=${one.version}`}>{nameOf(one)}</Link></span>))}</>
}
