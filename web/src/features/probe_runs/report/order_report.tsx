import { useText } from '../../../i18n/language'
import { useProbeOrder } from '../../../queries/probe_runs'
import { DataTable } from '../../../ui/data_table'
import { Section } from '../../../ui/page'
import { Ready } from '../../../ui/states'
import { useRunColumns } from '../runs/run_columns'
import { Comparison } from './comparison'

/** The runs of one order as they go, and what came out, compared. */
export function OrderReport({ id }: { id: string }) {
  const t = useText()
  const query = useProbeOrder(id)
  const columns = useRunColumns()
  const runs = query.data?.runs ?? []
  const ended = runs.filter((run) => run.state !== 'queued').length
  return (
    <Ready query={query}>
      <Section title={t('runs.order.runs')}
        side={<span role="status" className="dim">{t('runs.order.progress', { n: ended, all: runs.length })}</span>}>
        <DataTable name="order-runs" label={t('runs.order.runs')} columns={columns} rows={runs} rowKey={(r) => r.id} />
      </Section>
      <Comparison name={id} items={query.data?.comparison ?? []} />
    </Ready>
  )
}
