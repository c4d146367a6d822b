import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useLanguage } from '../../i18n/language'
import { type UsageRecord, useUsage } from '../../queries/usage'
import { type Column, DataTable } from '../../ui/data_table'
import { formatBytes, formatDuration, formatEnergy, formatNumber, nothing, secondsBetween } from '../../ui/format'
import { TextFilter } from '../../ui/forms/text_filter'
import { LinkButton } from '../../ui/link_button'
import { EmptyState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { Outcome } from '../jobs/job_state'
import { EvidenceDialog } from './evidence_dialog'
import { scoreHours } from './score_hours'

const none = { project: '', center: '', job_id: '', from: '', until: '' }

/** What was used, newest first. */
export function UsageList() {
  const { t } = useLanguage()
  const [filters, change] = useFilters(['project', 'center', 'job_id', 'from', 'until'])
  const query = useUsage(filters)
  const [evidence, setEvidence] = useState<string | null>(null)
  const columns = useColumns(setEvidence)
  const tools = (
    <>
      <TextFilter label={t('billing.project')} value={filters.project} onChange={(project) => change({ project })} />
      <TextFilter label={t('billing.center')} value={filters.center} onChange={(center) => change({ center })} width={120} />
      <TextFilter label={t('billing.job')} value={filters.job_id} onChange={(job_id) => change({ job_id })} placeholder="job_…" />
      <TextInput type="date" label={t('billing.from')} value={filters.from} onChange={(e) => change({ from: e.currentTarget.value })} />
      <TextInput type="date" label={t('billing.until')} value={filters.until} onChange={(e) => change({ until: e.currentTarget.value })} />
    </>
  )
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return (
    <Ready query={query} tools={tools}>
      <DataTable name="usage" label={t('billing.tab.usage')} columns={columns} rows={query.items ?? []} rowKey={(r) => String(r.id)} pages={query}
        tools={tools}
        empty={isFiltered
          ? <EmptyState title={t('billing.usage.none')} action={<Button onClick={() => change(none)}>{t('billing.clear')}</Button>} />
          : <EmptyState title={t('billing.usage.none.yet')}>{t('billing.usage.none.hint')}</EmptyState>} />
      {evidence ? <EvidenceDialog id={evidence} onClose={() => setEvidence(null)} /> : null}
    </Ready>
  )
}

function useColumns(onEvidence: (id: string) => void): Column<UsageRecord>[] {
  const { t, locale } = useLanguage()
  const length = (r: UsageRecord) => secondsBetween(r.from, r.until)
  return [
    { id: 'until', title: t('billing.usage.end'), cell: (r) => <Time at={r.until} />, csv: (r) => r.until },
    { id: 'from', title: t('billing.usage.start'), isHidden: true, cell: (r) => <Time at={r.from} />, csv: (r) => r.from },
    { id: 'kind', title: t('billing.usage.kind'), cell: (r) => t(`billing.usage.kind.${r.kind}`), csv: (r) => r.kind },
    { id: 'paid_by', title: t('billing.usage.payer'), cell: (r) => t(`billing.usage.payer.${r.paid_by}`), csv: (r) => r.paid_by },
    { id: 'project', title: t('billing.project'), cell: (r) => (r.project ? <Link href={pathTo('/projects/:name', { name: r.project })}>{r.project}</Link> : nothing), csv: (r) => r.project },
    { id: 'job', title: t('billing.job'), cell: (r) => (r.job_id ? <Link href={pathTo('/jobs/:id', { id: r.job_id })}>{r.job_name || r.job_id}</Link> : nothing), csv: (r) => r.job_id },
    { id: 'place', title: t('billing.usage.unit'), cell: (r) => (r.center ? `${r.center} / ${r.unit_type ?? nothing}` : nothing), csv: (r) => r.center && `${r.center}/${r.unit_type ?? ''}` },
    { id: 'unit_count', title: t('billing.usage.units'), isNumber: true, cell: (r) => r.unit_count, csv: (r) => r.unit_count },
    { id: 'length_s', title: t('billing.usage.length'), isNumber: true, cell: (r) => formatDuration(length(r)), csv: length },
    { id: 'score', title: t('billing.usage.score'), isNumber: true, cell: (r) => {
      const { score_evidence_id: id } = r
      const text = formatNumber(r.score, locale, 1)
      return id ? <LinkButton title={t('billing.evidence')} onClick={() => onEvidence(id)}>{text}</LinkButton> : text
    }, csv: (r) => r.score },
    { id: 'score_hours', title: t('billing.usage.score.hours'), isNumber: true, cell: (r) => formatNumber(scoreHours(r), locale, 6), csv: scoreHours },
    { id: 'cpu_s', title: t('billing.usage.cpu'), isNumber: true, isHidden: true, cell: (r) => formatDuration(r.cpu_s), csv: (r) => r.cpu_s },
    { id: 'moved_bytes', title: t('billing.usage.moved'), isNumber: true, isHidden: true, cell: (r) => formatBytes(r.moved_bytes), csv: (r) => r.moved_bytes },
    { id: 'stored_bytes', title: t('billing.usage.stored'), isNumber: true, isHidden: true, cell: (r) => formatBytes(r.stored_bytes), csv: (r) => r.stored_bytes },
    { id: 'idle_unit_s', title: t('billing.usage.idle'), isNumber: true, isHidden: true, cell: (r) => formatDuration(r.idle_unit_s), csv: (r) => r.idle_unit_s },
    { id: 'energy_j', title: t('billing.usage.energy'), isNumber: true, isHidden: true, cell: (r) => formatEnergy(r.energy_j), csv: (r) => r.energy_j },
    { id: 'outcome', title: t('billing.usage.outcome'), cell: (r) => (r.outcome ? <Outcome outcome={r.outcome} /> : nothing), csv: (r) => r.outcome },
    { id: 'revision', title: t('billing.usage.revision'), isNumber: true, isHidden: true, cell: (r) => r.revision, csv: (r) => r.revision },
    { id: 'attempt_id', title: t('ui.id'), isHidden: true, cell: (r) => <code>{r.source}</code>, csv: (r) => r.source },
    { id: 'submitted_by', title: t('billing.usage.by'), isHidden: true, cell: (r) => (r.submitted_by ? <code>{r.submitted_by}</code> : nothing), csv: (r) => r.submitted_by },
    { id: 'recorded_at', title: t('billing.usage.recorded'), isHidden: true, cell: (r) => <Time at={r.recorded_at} />, csv: (r) => r.recorded_at },
  ]
}
