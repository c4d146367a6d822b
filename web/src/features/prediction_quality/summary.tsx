import { useLanguage } from '../../i18n/language'
import type { Accuracy, Calibration, NetworkCalibration } from '../../queries/calibration'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, formatNumber, formatShare, nothing } from '../../ui/format'
import { StatePill } from '../../ui/state_pill'

interface Line {
  what: 'run' | 'wait' | 'cost'
  run: Calibration | null
  other: Accuracy | null
  currency: string | null
}

/** Intervals are to hold 80 %: how near they are, in words and form as well as colour. */
export function Coverage({ share, count }: { share: number; count: number }) {
  if (count === 0) return <>{nothing}</>
  const off = Math.abs(share - 0.8)
  return <StatePill tone={count < 20 ? 'idle' : off <= 0.1 ? 'good' : 'warn'}>{formatShare(share)}</StatePill>
}

/** A signed figure of waits or costs in its own unit. */
function inUnit(value: number, line: Line, locale: string): string {
  return line.what === 'wait' ? formatDuration(value) : `${formatNumber(value, locale, 6)} ${line.currency ?? ''}`.trim()
}

export function Summary({ of }: { of: Pick<NetworkCalibration, 'run' | 'wait' | 'cost'> & { currency: string | null } }) {
  const { t, locale } = useLanguage()
  const lines: Line[] = [
    { what: 'run', run: of.run, other: null, currency: null }, { what: 'wait', run: null, other: of.wait, currency: null },
    { what: 'cost', run: null, other: of.cost, currency: of.currency }]
  const shared = (line: Line) => ({ count: line.run?.job_count ?? line.other?.count ?? 0, share: line.run?.within_share ?? line.other?.within_share ?? 0 })
  const known = (line: Line, text: string) => (shared(line).count > 0 ? text : nothing)
  const figure = (line: Line, value: number | undefined) => (shared(line).count > 0 ? value : null)
  const columns: Column<Line>[] = [
    { id: 'what', title: t('quality.what'), cell: (l) => t(`quality.${l.what}`), csv: (l) => (l.currency ? `${l.what} ${l.currency}` : l.what) },
    { id: 'count', title: t('quality.jobs'), isNumber: true, cell: (l) => shared(l).count, csv: (l) => shared(l).count },
    { id: 'within', title: t('quality.within'), cell: (l) => <Coverage {...shared(l)} />, csv: (l) => figure(l, shared(l).share) },
    { id: 'below', title: t('quality.below'), isNumber: true, cell: (l) => known(l, l.run ? formatShare(l.run.below_share) : nothing), csv: (l) => figure(l, l.run?.below_share) },
    { id: 'above', title: t('quality.above'), isNumber: true, cell: (l) => known(l, l.run ? formatShare(l.run.above_share) : nothing), csv: (l) => figure(l, l.run?.above_share) },
    { id: 'ratio', title: t('quality.ratio'), isNumber: true, cell: (l) => known(l, l.run ? formatNumber(l.run.median_ratio, locale, 3) : nothing), csv: (l) => figure(l, l.run?.median_ratio) },
    { id: 'error', title: t('quality.error'), isNumber: true, cell: (l) => known(l, l.run ? formatShare(l.run.median_error) : inUnit(l.other?.median_error ?? 0, l, locale)),
      csv: (l) => figure(l, l.run?.median_error ?? l.other?.median_error) },
    { id: 'excess', title: t('quality.excess'), isNumber: true, cell: (l) => known(l, l.other ? inUnit(l.other.median_excess, l, locale) : nothing), csv: (l) => figure(l, l.other?.median_excess) },
    { id: 'width', title: t('quality.width'), isNumber: true, cell: (l) => known(l, l.run ? formatNumber(l.run.width_factor, locale, 2) : nothing), csv: (l) => figure(l, l.run?.width_factor) },
  ]
  return (
    <>
      <DataTable isPlain name="quality-summary" label={t('quality.summary')} columns={columns} rows={lines} rowKey={(l) => l.what} />
      <p className="dim">{t('quality.width')}: {t('quality.width.hint')}.</p>
    </>
  )
}
