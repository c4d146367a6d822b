import { useText } from '../../../i18n/language'
import { type Job, type JobOperators, useJobOperators } from '../../../queries/jobs'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatShare, nothing } from '../../../ui/format'
import { Facts } from '../../../ui/page'
import { Ready } from '../../../ui/states'
import { leftOutFacts } from './left_out'
import { similarityText, type OwnLoop, ownLoops } from './own_loops'

type Use = JobOperators['operators'][number]

export function parametersText(parameters: Readonly<Record<string, number>>): string {
  return Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(', ')
}

export function JobOperatorsTab({ job }: { job: Job }) {
  const t = useText()
  const query = useJobOperators(job.id)
  const known = query.data
  const columns: Column<Use>[] = [
    { id: 'id', title: t('jobs.operators.id'), cell: (o) => o.id, csv: (o) => o.id },
    { id: 'size', title: t('jobs.operators.size'), cell: (o) => <code>{parametersText(o.parameters)}</code>, csv: (o) => parametersText(o.parameters) },
    { id: 'class', title: t('jobs.operators.class'), cell: (o) => o.size_class ?? nothing, csv: (o) => o.size_class },
    { id: 'count', title: t('jobs.operators.count'), isNumber: true, cell: (o) => o.count, csv: (o) => o.count },
    { id: 'share', title: t('jobs.operators.share'), isNumber: true, cell: (o) => formatShare(o.share), csv: (o) => o.share },
  ]
  const loopColumns: Column<OwnLoop>[] = [
    { id: 'place', title: t('jobs.operators.loops.place'), cell: (l) => <code>{l.place}</code>, csv: (l) => l.place },
    { id: 'share', title: t('jobs.operators.share'), isNumber: true, cell: (l) => formatShare(l.share), csv: (l) => l.share },
    { id: 'like', title: t('jobs.operators.loops.like'), cell: (l) => similarityText(l, t), csv: (l) => l.operator },
  ]
  const loops = known ? ownLoops(known) : []
  return (
    <Ready query={query}>
      {known ? (
        <>
          <Facts items={[
            [t('jobs.operators.source'), t(`jobs.operators.source.${known.source}`)],
            [t('jobs.operators.coverage'), formatShare(known.coverage)],
            ...leftOutFacts(known, t),
          ]} />
          {known.operators.length > 0 ? (
            <DataTable isPlain name="operators" label={t('jobs.tab.operators')} columns={columns} rows={known.operators}
              rowKey={(o) => `${o.id} ${parametersText(o.parameters)} ${o.label ?? ''}`} />
          ) : null}
          {loops.length > 0 ? (
            <DataTable isPlain name="own_loops" label={t('jobs.operators.loops')} columns={loopColumns} rows={loops}
              rowKey={(l) => `${l.place} ${String(l.share)} ${l.operator ?? ''}`} />
          ) : null}
        </>
      ) : null}
    </Ready>
  )
}
