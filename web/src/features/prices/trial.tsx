import { Button } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { type PriceDocument, type PriceTrial, useTryPrices } from '../../queries/price_books'
import { type Column, DataTable } from '../../ui/data_table'
import { formatMoney, nothing } from '../../ui/format'
import { MomentInput, toIso, useTyped } from '../../ui/forms/moment_input'
import { subtract } from '../../ui/money'
import { ErrorState } from '../../ui/states'
import { useZone } from '../../ui/zone'
import styles from './prices.module.css'

type Row = PriceTrial['projects'][number]

/** What was used, at the prices of a document. */
export function Trial({ document }: { document: PriceDocument | null }) {
  const t = useText()
  const { zone } = useZone()
  const typed = useTyped()
  const attempt = useTryPrices()
  const [from, setFrom] = useState(() => typed(new Date(Date.now() - 30 * 86_400_000).toISOString()))
  const [until, setUntil] = useState('')
  const fromIso = toIso(from, zone)
  return (
    <>
      <p className="dim">{t('prices.try.hint')}</p>
      <form className={styles.row} onSubmit={(event) => {
        event.preventDefault()
        if (document && fromIso) attempt.mutate({ document, from: fromIso, until: toIso(until, zone) })
      }}>
        <MomentInput label={t('prices.try.from')} value={from} onChange={setFrom} />
        <MomentInput label={`${t('prices.try.until')}, ${t('prices.try.until.hint')}`} value={until} onChange={setUntil} />
        <Button type="submit" disabled={!document || !fromIso} loading={attempt.isPending}>{t('prices.try.do')}</Button>
      </form>
      {attempt.error ? <ErrorState error={attempt.error} /> : null}
      {attempt.data ? (attempt.variables?.document === document ? <Outcome trial={attempt.data} /> : <p role="status" className="dim">{t('prices.try.other')}</p>) : null}
    </>
  )
}

function Outcome({ trial }: { trial: PriceTrial }) {
  const t = useText()
  const billed = (row: Row) => Object.entries(row.billed).map(([currency, amount]) => formatMoney({ amount, currency })).join(', ') || formatMoney({ amount: '0', currency: trial.currency })
  const difference = (row: Row) => {
    // Amounts in several currencies have no difference.
    if (Object.keys(row.billed).some((currency) => currency !== trial.currency)) return null
    return subtract(row.trial_cost, row.billed[trial.currency] ?? '0')
  }
  const columns: Column<Row>[] = [
    { id: 'project', title: t('prices.project'), cell: (r) => r.project, csv: (r) => r.project },
    { id: 'trial_cost', title: t('prices.try.cost'), isNumber: true, cell: (r) => formatMoney({ amount: r.trial_cost, currency: trial.currency }), csv: (r) => r.trial_cost },
    { id: 'billed', title: t('prices.try.billed'), isNumber: true, cell: billed, csv: billed },
    { id: 'difference', title: t('prices.try.difference'), isNumber: true, cell: (r) => {
      const amount = difference(r)
      return amount === null ? nothing : `${amount.startsWith('-') || amount === '0' ? '' : '+'}${amount} ${trial.currency}`
    }, csv: difference },
  ]
  return (
    <div role="status">
      <p className="dim">{t('prices.try.records', { n: trial.usage_records })}</p>
      {trial.projects.length === 0 ? <p>{t('prices.try.none')}</p>
        : <DataTable name="price-trial" label={t('prices.try')} columns={columns} rows={trial.projects} rowKey={(r) => r.project} />}
    </div>
  )
}
