import { NativeSelect } from '@mantine/core'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { type Statement, type StatementOf, useStatement } from '../../queries/billing'
import { type Column, DataTable } from '../../ui/data_table'
import { formatMoney, nothing } from '../../ui/format'
import { TextFilter } from '../../ui/forms/text_filter'
import { Facts, Section } from '../../ui/page'
import { EmptyState, Ready } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import styles from './billing.module.css'
import { addressOf } from './export_address'
import { PeriodSelect } from './period_select'

type Line = Statement['lines'][number]

export function Statements() {
  const t = useText()
  const [raw, change] = useFilters(['of', 'name', 'period'])
  const of: StatementOf = { of: raw.of === 'center' ? 'center' : 'project', name: raw.name, period: raw.period || new Date().toISOString().slice(0, 7) }
  const query = useStatement(of)
  return (
    <>
      <div className={styles.row}>
        <NativeSelect label={t('billing.statement.of')} value={of.of} onChange={(e) => change({ of: e.currentTarget.value === 'center' ? 'center' : '', name: '' })}
          data={(['project', 'center'] as const).map((value) => ({ value, label: t(`billing.statement.of.${value}`) }))} />
        <TextFilter label={t('billing.statement.name')} value={of.name} placeholder={of.of === 'project' ? 'default' : ''} onChange={(name) => change({ name })} />
        <PeriodSelect value={of.period} none={nothing} onChange={(period) => change({ period })} />
      </div>
      {of.name === '' ? <EmptyState title={t('billing.statement.choose')} /> : (
        <Ready query={query}>{query.data ? <OneStatement statement={query.data} of={of} /> : null}</Ready>
      )}
    </>
  )
}

function OneStatement({ statement, of }: { statement: Statement; of: StatementOf }) {
  const t = useText()
  const address = (format: 'html' | 'csv') => addressOf('/api/v1/statements', { [of.of]: of.name, period: of.period, format })
  const money = (line: Line, amount: string) => formatMoney({ amount, currency: line.currency })
  const columns: Column<Line>[] = [
    of.of === 'project'
      ? { id: 'center', title: t('billing.center'), cell: (l) => l.center ?? nothing, csv: (l) => l.center }
      : { id: 'project', title: t('billing.project'), cell: (l) => l.project ?? nothing, csv: (l) => l.project },
    { id: 'unit_type', title: t('billing.usage.unit'), cell: (l) => l.unit_type, csv: (l) => l.unit_type },
    { id: 'meter', title: t('billing.statement.meter'), cell: (l) => t(`billing.meter.${l.meter}`), csv: (l) => l.meter },
    { id: 'unit_price', title: t('billing.statement.price'), isNumber: true, cell: (l) => money(l, l.unit_price), csv: (l) => l.unit_price },
    { id: 'quantity', title: t('billing.statement.quantity'), isNumber: true, cell: (l) => l.quantity, csv: (l) => l.quantity },
    { id: 'list_cost', title: t('billing.statement.list'), isNumber: true, cell: (l) => money(l, l.list_cost), csv: (l) => l.list_cost },
    { id: 'billed_cost', title: t('billing.statement.billed'), isNumber: true, cell: (l) => money(l, l.billed_cost), csv: (l) => l.billed_cost },
    { id: 'charges', title: t('billing.statement.charges'), isNumber: true, cell: (l) => l.charges, csv: (l) => l.charges },
    { id: 'jobs', title: t('billing.statement.jobs'), isNumber: true, cell: (l) => l.jobs, csv: (l) => l.jobs },
    { id: 'is_correction', title: t('billing.statement.correction'), cell: (l) => (l.is_correction ? t('ui.yes') : ''), csv: (l) => l.is_correction },
  ]
  return (
    <Section title={t('billing.statement.title', { name: statement.name, period: statement.period })}
      side={
        <span className={styles.links}>
          <a href={address('html')} target="_blank" rel="noreferrer">{t('billing.statement.print')}</a>
          <a href={address('csv')} download={`statement-${statement.name}-${statement.period}.csv`}>{t('billing.statement.csv')}</a>
        </span>
      }>
      {statement.totals.map((total) => (
        <p key={total.currency} className={styles.total}>
          {t('billing.statement.total', { amount: formatMoney({ amount: total.amount, currency: total.currency }) })}{' '}
          <span className="dim">({t('billing.statement.total.list', { amount: formatMoney({ amount: total.list_cost, currency: total.currency }) })})</span>
        </p>
      ))}
      <Facts items={[
        [t('billing.statement.state'), <StatePill key="s" tone={statement.state === 'closed' ? 'good' : 'idle'}>{t(`billing.statement.${statement.state}`)}</StatePill>],
        [t('billing.statement.closed.at'), statement.closed_at ? <Time key="c" at={statement.closed_at} /> : null],
        [t('billing.statement.entry'), statement.last_entry], [t('billing.statement.hash'), <code key="h">{statement.head_sha256}</code>],
      ]} />
      <DataTable name={`statement-${statement.name}-${statement.period}`} label={t('billing.statement.lines')} columns={columns} rows={statement.lines}
        rowKey={(l) => [l.center, l.project, l.unit_type, l.meter, l.currency, l.unit_price, l.is_correction].join(' ')}
        empty={<EmptyState title={t('billing.statement.none')} />} />
    </Section>
  )
}
