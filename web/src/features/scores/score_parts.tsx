import { Modal } from '@mantine/core'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useLanguage } from '../../i18n/language'
import type { GroupedScore } from '../../queries/scores'
import { DataTable } from '../../ui/data_table'
import { formatNumber, formatShare, nothing } from '../../ui/format'
import { formatSize } from '../../ui/rates'
import { ServerText } from '../../ui/server_text'
import { Time } from '../../ui/zone'

/** Each operator's part in a score over several, with its evidence. */
export function ScoreParts({ score, onClose }: { score: GroupedScore; onClose: () => void }) {
  const { t, locale } = useLanguage()
  const title = t('scores.parts.of', { place: `${score.center}/${score.unit_type}` })
  return (
    <Modal opened onClose={onClose} size="xl" title={title} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <DataTable name="score-parts" label={title} rows={score.parts} rowKey={(p) => `${p.operator} ${p.size_class ?? ''} ${formatSize(p.parameters)}`} columns={[
        { id: 'operator', title: t('measure.operator'), cell: (p) => p.operator, csv: (p) => p.operator },
        { id: 'size', title: t('measure.size'), cell: (p) => <>{p.size_class ?? ''} <code>{formatSize(p.parameters)}</code></>, csv: (p) => formatSize(p.parameters) },
        { id: 'weight', title: t('scores.weight'), isNumber: true, cell: (p) => formatShare(p.weight), csv: (p) => p.weight },
        { id: 'score', title: t('scores.score'), isNumber: true, cell: (p) => formatNumber(p.score, locale, 1), csv: (p) => p.score },
        { id: 'interval', title: t('measure.interval'), isNumber: true, csv: (p) => `${p.score_low ?? ''} ${p.score_high ?? ''}`,
          cell: (p) => (p.score === null ? nothing : `${formatNumber(p.score_low, locale, 0)} – ${formatNumber(p.score_high, locale, 0)}`) },
        { id: 'missing', title: t('scores.missing'), cell: (p) => (p.missing_reason ? <ServerText>{p.missing_reason}</ServerText> : nothing), csv: (p) => p.missing_reason },
        { id: 'results', title: t('scores.results'), isNumber: true, cell: (p) => p.probe_run_ids.length, csv: (p) => p.probe_run_ids.join(' ') },
        { id: 'measured_at', title: t('scores.measured'), csv: (p) => p.measured_at, cell: (p) => (p.probe_run_id
          ? <Link href={pathTo('/probe-runs/:id', { id: p.probe_run_id })}><Time at={p.measured_at} /></Link> : nothing) },
      ]} />
    </Modal>
  )
}
