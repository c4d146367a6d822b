import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useLanguage, useText } from '../../i18n/language'
import { type Cycle, useCycles } from '../../queries/cycles'
import { type Column, DataTable } from '../../ui/data_table'
import { formatBytes, formatDuration, formatNumber } from '../../ui/format'
import { MomentFilter } from '../../ui/forms/moment_filter'
import { parseMoment } from '../../ui/forms/moments'
import { Page } from '../../ui/page'
import { EmptyState, NoneFits, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'

/** What the scheduler decided on of late, the newest first. */
export function CyclesPage() {
  const t = useText()
  const [raw, change] = useFilters(['since', 'until'])
  const filters = { since: parseMoment(raw.since), until: parseMoment(raw.until) }
  const query = useCycles(filters)
  const columns = useColumns()
  const tools = (
    <>
      <MomentFilter label={t('cycles.since')} value={filters.since} onChange={(since) => change({ since })} />
      <MomentFilter label={t('cycles.until')} value={filters.until} onChange={(until) => change({ until })} />
    </>
  )
  return (
    <Page title={t('cycles.title')}>
      <p className="dim">{t('cycles.intro')}</p>
      <Ready query={query} tools={tools}>
        <DataTable name="cycles" label={t('cycles.title')} columns={columns} rows={query.items ?? []} rowKey={(cycle) => cycle.id} pages={query} tools={tools}
          empty={filters.since || filters.until
            ? <NoneFits onClear={() => change({ since: '', until: '' })} />
            : <EmptyState title={t('cycles.none')}>{t('cycles.none.text')}</EmptyState>} />
      </Ready>
    </Page>
  )
}

function useColumns(): Column<Cycle>[] {
  const { t, locale } = useLanguage()
  const waits = (cycle: Cycle) => cycle.job_count - cycle.start_count
  return [
    { id: 'decided_at', title: t('cycles.decided'), csv: (c) => c.decided_at,
      cell: (c) => <Link href={pathTo('/cycles/:id', { id: c.id })}><Time at={c.decided_at} /></Link> },
    { id: 'id', title: t('cycles.id'), isHidden: true, cell: (c) => <code>{c.id}</code>, csv: (c) => c.id },
    { id: 'job_count', title: t('cycles.jobs'), isNumber: true, cell: (c) => formatNumber(c.job_count, locale), csv: (c) => c.job_count },
    { id: 'start_count', title: t('cycles.started'), isNumber: true, cell: (c) => formatNumber(c.start_count, locale), csv: (c) => c.start_count },
    { id: 'wait_count', title: t('cycles.waited'), isNumber: true, cell: (c) => formatNumber(waits(c), locale), csv: waits },
    { id: 'decision_s', title: t('cycles.took'), isNumber: true, cell: (c) => formatDuration(c.decision_s), csv: (c) => c.decision_s },
    { id: 'decided_by', title: t('cycles.replica'), cell: (c) => <code>{c.decided_by}</code>, csv: (c) => c.decided_by },
    { id: 'bytes', title: t('cycles.size'), isNumber: true, isHidden: true, cell: (c) => formatBytes(c.bytes), csv: (c) => c.bytes },
  ]
}
