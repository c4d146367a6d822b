import { Button, NativeSelect } from '@mantine/core'
import { useMemo, useState } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useLanguage, useText } from '../../i18n/language'
import { type ScorePoint, useScoreHistory } from '../../queries/scores'
import { DataTable } from '../../ui/data_table'
import { formatDuration, formatNumber, nothing } from '../../ui/format'
import { Page, Section } from '../../ui/page'
import { formatByteRate, formatFigure, formatFlops, formatSize } from '../../ui/rates'
import { mostSeries } from '../../ui/series_style'
import { ServerText } from '../../ui/server_text'
import { EmptyState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import measuring from '../measuring/measuring.module.css'
import { PolicySelect } from '../metric_policies/policy_select'
import { type HistoryFigure, seriesOf } from './history'
import { HistoryChart } from './history_chart'

const spans = [7, 30, 90, 365, 730]
const figures: readonly HistoryFigure[] = ['score', 'rate']

/** How one operator did on one unit type over time. */
export function HistoryPage() {
  const t = useText()
  const [raw, change] = useFilters(['unit_type', 'operator', 'version', 'policy', 'series', 'days', 'show'])
  const days = spans.find((span) => span === Number(raw.days)) ?? 90
  const figure = figures.find((one) => one === raw.show) ?? 'score'
  const [opened] = useState(() => Date.now())
  const query = useScoreHistory(raw, new Date(opened - days * 86_400_000).toISOString())
  const points = query.data
  const all = useMemo(() => seriesOf(points ?? []), [points])
  const shown = useMemo(() => all.filter((one) => !raw.series || one.key === raw.series), [all, raw.series])
  const drawn = useMemo(() => shown.slice(0, mostSeries), [shown])
  const newest = points?.[0]
  const place = newest ? `${newest.center}/${newest.unit_type}` : raw.unit_type
  const title = t('scores.history.of', { name: `${place} ${raw.operator}` })
  const scores = <Link href="/scores">{t('scores.history.to')}</Link>
  if (!raw.unit_type || !raw.operator) {
    return (
      <Page title={t('scores.history')}>
        <EmptyState title={t('scores.history.choose')} action={scores}>{t('scores.history.choose.text')}</EmptyState>
      </Page>
    )
  }
  const names = all.map((one) => ({ value: one.key, label: t('scores.history.series.name', { size: one.size, n: one.units }) }))
  const isKnown = raw.series === '' || all.some((one) => one.key === raw.series)
  return (
    <Page title={title} actions={scores}>
      <div className={measuring.tools}>
        <NativeSelect label={t('scores.history.days')} value={String(days)} onChange={(e) => change({ days: e.currentTarget.value })}
          data={spans.map((n) => ({ value: String(n), label: t('scores.history.last', { n }) }))} />
        <NativeSelect label={t('scores.history.series')} value={raw.series} onChange={(e) => change({ series: e.currentTarget.value })}
          data={[{ value: '', label: t('ui.any') }, ...names, ...(isKnown ? [] : [raw.series])]} />
        <NativeSelect label={t('scores.history.show')} value={figure} onChange={(e) => change({ show: e.currentTarget.value })}
          data={figures.map((value) => ({ value, label: t(`scores.history.show.${value}`) }))} />
        <PolicySelect value={raw.policy} onChange={(policy) => change({ policy })} />
      </div>
      <Ready query={query}>
        {query.isCut ? <p className={measuring.warn}>{t('scores.history.cut', { n: points?.length ?? 0 })}</p> : null}
        {shown.length === 0 || !newest ? (
          <EmptyState title={t('scores.history.none')} action={<Button onClick={() => change({ days: '730', series: '' })}>{t('measure.clear')}</Button>}>
            {t('scores.history.none.text')}</EmptyState>
        ) : (
          <>
            <HistoryChart name={`${place} ${raw.operator}`} series={drawn} figure={figure} />
            <p className={measuring.note}>{t('scores.history.note', { version: newest.operator_version, policy: newest.policy })} {shown.length > drawn.length ? t('scores.history.most', { n: mostSeries }) : ''}</p>
            <HistoryTable points={shown.flatMap((one) => one.points).sort((a, b) => b.measured_at.localeCompare(a.measured_at))} />
          </>
        )}
      </Ready>
    </Page>
  )
}

/** What the chart shows, for those who do not see it, with what has no place in it. */
function HistoryTable({ points }: { points: readonly ScorePoint[] }) {
  const { t, locale } = useLanguage()
  const title = t('scores.history.points')
  return (
    <Section title={title}>
      <DataTable name="score-history" label={title} rows={points} rowKey={(p) => `${p.probe_run_id} ${formatSize(p.parameters)}`} columns={[
        { id: 'measured_at', title: t('scores.measured'), csv: (p) => p.measured_at, cell: (p) => <Time at={p.measured_at} /> },
        { id: 'size', title: t('measure.size'), cell: (p) => <code>{formatSize(p.parameters)}</code>, csv: (p) => formatSize(p.parameters) },
        { id: 'unit_count', title: t('measure.units'), isNumber: true, cell: (p) => p.unit_count, csv: (p) => p.unit_count },
        { id: 'score', title: t('scores.score'), isNumber: true, cell: (p) => formatNumber(p.score, locale, 1), csv: (p) => p.score },
        { id: 'interval', title: t('measure.interval'), isNumber: true, csv: (p) => `${p.score_low ?? ''} ${p.score_high ?? ''}`,
          cell: (p) => (p.score === null ? nothing : `${formatNumber(p.score_low, locale, 0)} – ${formatNumber(p.score_high, locale, 0)}`) },
        { id: 'rate', title: t('scores.history.rate'), isNumber: true, cell: (p) => (p.rate_flops > 0 ? formatFlops(p.rate_flops) : formatByteRate(p.rate_bytes)),
          csv: (p) => (p.rate_flops > 0 ? p.rate_flops : p.rate_bytes) },
        { id: 'median_s', title: t('measure.median'), isNumber: true, cell: (p) => formatDuration(p.median_s), csv: (p) => p.median_s },
        { id: 'error', title: t('measure.error'), isNumber: true, cell: (p) => formatFigure(p.error), csv: (p) => p.error },
        { id: 'missing', title: t('scores.missing'), cell: (p) => (p.missing_reason ? <ServerText>{p.missing_reason}</ServerText> : nothing), csv: (p) => p.missing_reason },
        { id: 'run', title: t('scores.history.run'), csv: (p) => p.probe_run_id,
          cell: (p) => <Link href={pathTo('/probe-runs/:id', { id: p.probe_run_id })}>{p.probe_run_id}</Link> },
      ]} />
    </Section>
  )
}
