import { Button } from '@mantine/core'
import { useState } from 'react'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type BillingPeriod, useBillingPeriods, useClosePeriod } from '../../queries/billing'
import { Link } from '../../app/router/link'
import { ConfirmByTyping } from '../../ui/confirm_by_typing'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { EmptyState, Ready } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { VerifyLedger } from './verify_ledger'

/** The months of the ledger, and whether it holds. */
export function Ledger() {
  const t = useText()
  return (
    <>
      <Section title={t('billing.ledger.verify')}><VerifyLedger /></Section>
      <Section title={t('billing.ledger.periods')}><Periods /></Section>
    </>
  )
}

function Periods() {
  const t = useText()
  const { may } = useSession()
  const query = useBillingPeriods()
  const close = useClosePeriod()
  const [closing, setClosing] = useState<string | null>(null)
  const now = new Date().toISOString().slice(0, 7)
  const columns: Column<BillingPeriod>[] = [
    { id: 'period', title: t('billing.period'), cell: (p) => <Link href={`/billing?tab=exports&period=${p.period}`}>{p.period}</Link>, csv: (p) => p.period },
    { id: 'state', title: t('billing.statement.state'), cell: (p) => <StatePill tone={p.state === 'closed' ? 'good' : 'idle'}>{t(`billing.statement.${p.state}`)}</StatePill>, csv: (p) => p.state },
    { id: 'entries', title: t('billing.ledger.entries'), isNumber: true, cell: (p) => p.entries, csv: (p) => p.entries },
    { id: 'closed_at', title: t('billing.statement.closed.at'), cell: (p) => <Time at={p.closed_at} />, csv: (p) => p.closed_at },
    { id: 'closed_by', title: t('billing.ledger.closed.by'), cell: (p) => (p.closed_by ? <code>{p.closed_by}</code> : nothing), csv: (p) => p.closed_by },
    ...(may('manage_billing') ? [{ id: 'close', title: t('form.actions'), cell: (p: BillingPeriod) => {
      if (p.state === 'closed') return null
      if (p.period >= now) return <span className="dim">{t('billing.ledger.running')}</span>
      return <Button size="compact-xs" aria-label={`${t('billing.ledger.close')} ${p.period}`} onClick={() => {
        close.reset()
        setClosing(p.period)
      }}>{t('billing.ledger.close')}</Button>
    } }] : []),
  ]
  return (
    <Ready query={query}>
      <DataTable name="billing-periods" label={t('billing.ledger.periods')} columns={columns} rows={query.data ?? []} rowKey={(p) => p.period}
        empty={<EmptyState title={t('billing.ledger.periods.none')}>{t('billing.ledger.periods.hint')}</EmptyState>} />
      {closing ? (
        <ConfirmByTyping opened title={t('billing.ledger.close.title')} target={closing} action={t('billing.ledger.close.do')} error={close.error} busy={close.isPending}
          onClose={() => setClosing(null)} onConfirm={() => close.mutate(closing, { onSuccess: () => setClosing(null) })}>
          <p>{t('billing.ledger.close.what', { period: closing })}</p>
        </ConfirmByTyping>
      ) : null}
    </Ready>
  )
}
