import { useText } from '../../../i18n/language'
import { type Job, type JobCost, useJobCost } from '../../../queries/jobs'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatMoney, nothing } from '../../../ui/format'
import { Facts, Section } from '../../../ui/page'
import { Ready } from '../../../ui/states'
import { placeName } from '../../routing/place_name'

type Charge = JobCost['charges'][number]

export function JobCostTab({ job }: { job: Job }) {
  const t = useText()
  const query = useJobCost(job.id)
  const cost = query.data
  const sums = (list: JobCost['billed'] | undefined) => (list?.length ? list.map(formatMoney).join(', ') : nothing)
  const columns: Column<Charge>[] = [
    { id: 'meter', title: t('jobs.cost.meter'), cell: (c) => t(`billing.meter.${c.meter}`), csv: (c) => c.meter },
    { id: 'place', title: t('jobs.place'), cell: (c) => `${c.center} / ${c.unit_type} × ${c.unit_count}`, csv: (c) => placeName(c) },
    { id: 'score', title: t('jobs.cost.score'), isNumber: true, cell: (c) => c.score, csv: (c) => c.score },
    { id: 'quantity', title: t('jobs.cost.quantity'), isNumber: true, cell: (c) => c.quantity, csv: (c) => c.quantity },
    { id: 'price', title: t('jobs.cost.price'), isNumber: true, cell: (c) => `${c.unit_price} ${c.currency}`, csv: (c) => `${c.unit_price} ${c.currency}` },
    { id: 'list', title: t('jobs.cost.list'), isNumber: true, cell: (c) => `${c.list_cost} ${c.currency}`, csv: (c) => `${c.list_cost} ${c.currency}` },
    { id: 'billed', title: t('jobs.cost.billed'), isNumber: true, cell: (c) => `${c.billed_cost} ${c.currency}`, csv: (c) => `${c.billed_cost} ${c.currency}` },
  ]
  return (
    <Ready query={query}>
      {cost ? (
        <>
          <Facts items={[
            [t('jobs.cost.expected'), cost.expected ? formatMoney(cost.expected.cost) : nothing],
            [t('jobs.interval'), cost.expected?.low ? `${formatMoney(cost.expected.low)} – ${formatMoney(cost.expected.high)}` : nothing],
            [t('jobs.cost.running'), sums(cost.running)],
            [t('jobs.cost.billed'), sums(cost.billed)],
            [t('jobs.cost.final'), t(cost.is_final ? 'ui.yes' : 'ui.no')],
            [t('jobs.cost.payer'), t(`jobs.cost.payer.${cost.paid_by}`)],
          ]} />
          <Section title={t('jobs.cost.charges')}>
            {cost.charges.length === 0 ? <p className="dim">{t('jobs.cost.charges.none')}</p>
              : <DataTable isPlain name="charges" label={t('jobs.cost.charges')} columns={columns} rows={cost.charges} rowKey={(c) => String(c.entry)} />}
          </Section>
        </>
      ) : null}
    </Ready>
  )
}
