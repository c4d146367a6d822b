import { Button } from '@mantine/core'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useLanguage } from '../../i18n/language'
import type { AnyScore, GroupedScore, Score } from '../../queries/scores'
import type { Column } from '../../ui/data_table'
import { formatDuration, formatNumber, formatShare, nothing } from '../../ui/format'
import { formatByteRate, formatFigure, formatFlops, formatSize } from '../../ui/rates'
import { ServerText } from '../../ui/server_text'
import { Time } from '../../ui/zone'
import { historyPath } from './history'

function usePlaceAndScore<Row extends AnyScore>(): { place: Column<Row>[]; score: Column<Row>[] } {
  const { t, locale } = useLanguage()
  return {
    place: [
      { id: 'center', title: t('measure.center'), cell: (s) => <Link href={pathTo('/centers/:center', { center: s.center })}>{s.center}</Link>, csv: (s) => s.center },
      { id: 'unit_type', title: t('measure.unit_type'), cell: (s) => s.unit_type, csv: (s) => s.unit_type },
    ],
    score: [
      { id: 'score', title: t('scores.score'), isNumber: true, cell: (s) => formatNumber(s.score, locale, 1), csv: (s) => s.score },
      { id: 'score_low', title: t('measure.interval'), isNumber: true, csv: (s) => `${s.score_low ?? ''} ${s.score_high ?? ''}`,
        cell: (s) => (s.score === null ? nothing : `${formatNumber(s.score_low, locale, 0)} – ${formatNumber(s.score_high, locale, 0)}`) },
      { id: 'missing_reason', title: t('scores.missing'), cell: (s) => (s.missing_reason ? <ServerText>{s.missing_reason}</ServerText> : nothing), csv: (s) => s.missing_reason, isHidden: true },
      { id: 'trust_factor', title: t('scores.trust'), isNumber: true, cell: (s) => formatShare(s.trust_factor, 0), csv: (s) => s.trust_factor },
      { id: 'policy', title: t('scores.policy'), cell: (s) => s.policy, csv: (s) => s.policy, isHidden: true },
    ],
  }
}

export function useOperatorScoreColumns(policy: string): Column<Score>[] {
  const { t } = useLanguage()
  const { place, score } = usePlaceAndScore<Score>()
  return [
    ...place,
    { id: 'operator', title: t('measure.operator'), cell: (s) => <Link href={pathTo('/operators/:id', { id: s.operator })}>{s.operator}</Link>, csv: (s) => s.operator },
    { id: 'operator_version', title: t('measure.version'), isNumber: true, cell: (s) => s.operator_version, csv: (s) => s.operator_version, isHidden: true },
    { id: 'size', title: t('measure.size'), cell: (s) => <code>{formatSize(s.parameters)}</code>, csv: (s) => formatSize(s.parameters) },
    { id: 'unit_count', title: t('measure.units'), isNumber: true, cell: (s) => s.unit_count, csv: (s) => s.unit_count },
    ...score,
    { id: 'median_s', title: t('measure.median'), isNumber: true, cell: (s) => formatDuration(s.median_s), csv: (s) => s.median_s },
    { id: 'spread', title: t('measure.spread'), isNumber: true, cell: (s) => formatShare(s.spread), csv: (s) => s.spread },
    { id: 'rate_flops', title: t('runs.result.rate'), isNumber: true, cell: (s) => (s.rate_flops > 0 ? formatFlops(s.rate_flops) : nothing), csv: (s) => s.rate_flops, isHidden: true },
    { id: 'rate_bytes', title: t('runs.result.bytes'), isNumber: true, cell: (s) => (s.rate_bytes > 0 ? formatByteRate(s.rate_bytes) : nothing), csv: (s) => s.rate_bytes, isHidden: true },
    { id: 'error', title: t('measure.error'), isNumber: true, cell: (s) => formatFigure(s.error), csv: (s) => s.error, isHidden: true },
    { id: 'samples', title: t('measure.samples'), isNumber: true, cell: (s) => s.sample_count, csv: (s) => s.sample_count, isHidden: true },
    { id: 'outliers', title: t('scores.outliers'), isNumber: true, cell: (s) => s.outlier_count, csv: (s) => s.outlier_count, isHidden: true },
    { id: 'results', title: t('scores.results'), isNumber: true, cell: (s) => s.probe_run_ids.length, csv: (s) => s.probe_run_ids.join(' '), isHidden: true },
    { id: 'diversity', title: t('scores.diversity'), isNumber: true, cell: (s) => s.diversity, csv: (s) => s.diversity, isHidden: true },
    { id: 'measured_at', title: t('scores.measured'), csv: (s) => s.measured_at, cell: (s) => (
      <Link href={pathTo('/probe-runs/:id', { id: s.probe_run_id })}><Time at={s.measured_at} /></Link>) },
    { id: 'history', title: t('scores.history'), cell: (s) => (
      <Link href={historyPath(s, policy)} aria-label={t('scores.history.of', { name: `${s.center}/${s.unit_type} ${s.operator}` })}>{t('scores.history')}</Link>) },
  ]
}

export function useGroupedScoreColumns(onParts: (score: GroupedScore) => void): Column<GroupedScore>[] {
  const { t } = useLanguage()
  const { place, score } = usePlaceAndScore<GroupedScore>()
  return [
    ...place,
    { id: 'name', title: t('scores.by'), cell: (s) => s.name ?? t('scores.whole'), csv: (s) => s.name },
    ...score.map((column) => (column.id === 'missing_reason' ? { ...column, isHidden: false } : column)),
    { id: 'oldest_measured_at', title: t('scores.oldest'), cell: (s) => <Time at={s.oldest_measured_at} />, csv: (s) => s.oldest_measured_at },
    { id: 'parts', title: t('scores.parts'), csv: (s) => s.parts.length, cell: (s) => (
      <Button size="compact-xs" aria-label={`${s.parts.length}: ${t('scores.parts.show', { place: `${s.center}/${s.unit_type} ${s.name ?? ''}` })}`} onClick={() => onParts(s)}>{s.parts.length}</Button>) },
  ]
}
