import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useLanguage } from '../../i18n/language'
import { type DeviceAccuracy, type NetworkCalibration, type OperatorAccuracy, useDeviceAccuracy, useOperatorAccuracy } from '../../queries/calibration'
import { type Trust, useTrust } from '../../queries/trust'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, formatNumber, formatShare, nothing } from '../../ui/format'
import { Ready } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { Coverage } from './summary'

type ByUnit = NetworkCalibration['by_unit_type'][number]
type ByType = NetworkCalibration['by_job_type'][number]
type ByRung = NonNullable<NetworkCalibration['by_rung']>[number]

function useRunColumns<Row extends ByUnit | ByType | ByRung>(): Column<Row>[] {
  const { t, locale } = useLanguage()
  return [
    { id: 'attempts', title: t('quality.jobs'), isNumber: true, cell: (r) => r.run.job_count, csv: (r) => r.run.job_count },
    { id: 'within_share', title: t('quality.within'), cell: (r) => <Coverage share={r.run.within_share} count={r.run.job_count} />, csv: (r) => r.run.within_share },
    { id: 'below_share', title: t('quality.below'), isNumber: true, cell: (r) => formatShare(r.run.below_share), csv: (r) => r.run.below_share },
    { id: 'above_share', title: t('quality.above'), isNumber: true, cell: (r) => formatShare(r.run.above_share), csv: (r) => r.run.above_share },
    { id: 'median_ratio', title: t('quality.ratio'), isNumber: true, cell: (r) => formatNumber(r.run.median_ratio, locale, 3), csv: (r) => r.run.median_ratio },
    { id: 'median_error', title: t('quality.error'), isNumber: true, cell: (r) => formatShare(r.run.median_error), csv: (r) => r.run.median_error },
    { id: 'width_factor', title: t('quality.width'), isNumber: true, cell: (r) => formatNumber(r.run.width_factor, locale, 2), csv: (r) => r.run.width_factor },
  ]
}

function useQualityColumns<Row extends ByUnit | ByType>(): Column<Row>[] {
  const { t } = useLanguage()
  return [
    ...useRunColumns<Row>(),
    { id: 'wait_within', title: `${t('quality.wait')}: ${t('quality.within')}`, isNumber: true, isHidden: true, cell: (r) => (r.wait.count ? formatShare(r.wait.within_share) : nothing), csv: (r) => r.wait.within_share },
    { id: 'wait_error_s', title: `${t('quality.wait')}: ${t('quality.error')}`, isNumber: true, isHidden: true, cell: (r) => (r.wait.count ? formatDuration(r.wait.median_error) : nothing), csv: (r) => r.wait.median_error },
    { id: 'cost_within', title: `${t('quality.cost')}: ${t('quality.within')}`, isNumber: true, isHidden: true, cell: (r) => (r.cost.count ? formatShare(r.cost.within_share) : nothing), csv: (r) => r.cost.within_share },
  ]
}

export function UnitTable({ rows }: { rows: readonly ByUnit[] }) {
  const { t } = useLanguage()
  const columns: Column<ByUnit>[] = [
    { id: 'unit_type', title: t('quality.unit'), cell: (r) => <Link href={pathTo('/unit-types/:id', { id: r.unit_type_id })}>{r.center} / {r.unit_type}</Link>, csv: (r) => `${r.center}/${r.unit_type}` },
    ...useQualityColumns<ByUnit>()]
  return <DataTable name="quality-by-unit-type" label={t('quality.units')} columns={columns} rows={rows} rowKey={(r) => r.unit_type_id} />
}

export function TypeTable({ rows }: { rows: readonly ByType[] }) {
  const { t } = useLanguage()
  const columns: Column<ByType>[] = [
    { id: 'job_type', title: t('quality.type'), cell: (r) => r.job_type || t('quality.type.none'), csv: (r) => r.job_type }, ...useQualityColumns<ByType>()]
  return <DataTable name="quality-by-job-type" label={t('quality.types')} columns={columns} rows={rows} rowKey={(r) => r.job_type} />
}

export function RungTable({ rows }: { rows: readonly ByRung[] }) {
  const { t } = useLanguage()
  const columns: Column<ByRung>[] = [
    { id: 'rung', title: t('quality.rung'), cell: (r) => t(`quality.rung.${r.rung}`), csv: (r) => r.rung }, ...useRunColumns<ByRung>()]
  return <DataTable name="quality-by-rung" label={t('quality.rungs')} columns={columns} rows={rows} rowKey={(r) => r.rung} />
}

export function DeviceTable() {
  const { t, locale } = useLanguage()
  const query = useDeviceAccuracy()
  const columns: Column<DeviceAccuracy>[] = [
    { id: 'center', title: t('quality.center'), cell: (r) => <Link href={pathTo('/centers/:center', { center: r.center })}>{r.center}</Link>, csv: (r) => r.center },
    { id: 'resource_type', title: t('quality.devices.kind'), cell: (r) => r.resource_type, csv: (r) => r.resource_type },
    { id: 'job_type', title: t('quality.type'), cell: (r) => r.job_type || t('quality.type.none'), csv: (r) => r.job_type },
    { id: 'job_count', title: t('quality.trust.jobs'), isNumber: true, cell: (r) => r.job_count, csv: (r) => r.job_count },
    { id: 'raw_prediction_s', title: t('quality.devices.raw'), isNumber: true, cell: (r) => formatDuration(r.raw_prediction_s), csv: (r) => r.raw_prediction_s },
    { id: 'actual_s', title: t('quality.devices.actual'), isNumber: true, cell: (r) => formatDuration(r.actual_s), csv: (r) => r.actual_s },
    { id: 'ratio', title: t('quality.residuals.axis'), isNumber: true, cell: (r) => formatNumber(r.ratio, locale, 3), csv: (r) => r.ratio },
  ]
  return (
    <Ready query={query}>
      <p className="dim">{t('quality.devices.hint')}</p>
      {query.data?.length === 0 ? <p className="dim">{t('quality.devices.none')}</p>
        : <DataTable name="quality-by-device" label={t('quality.devices')} columns={columns} rows={query.data ?? []} rowKey={(r) => `${r.center_id} ${r.resource_type} ${r.job_type}`} />}
    </Ready>
  )
}

export function OperatorTable() {
  const { t, locale } = useLanguage()
  const query = useOperatorAccuracy()
  const columns: Column<OperatorAccuracy>[] = [
    { id: 'unit_type', title: t('quality.unit'), cell: (r) => <Link href={pathTo('/unit-types/:id', { id: r.unit_type_id })}>{r.center} / {r.unit_type}</Link>, csv: (r) => `${r.center}/${r.unit_type}` },
    { id: 'resource_type', title: t('quality.devices.kind'), cell: (r) => r.resource_type, csv: (r) => r.resource_type },
    { id: 'operator', title: t('measure.operator'), cell: (r) => <Link href={pathTo('/operators/:id', { id: r.operator })}>{r.operator}</Link>, csv: (r) => r.operator },
    { id: 'run_count', title: t('quality.operators.runs'), isNumber: true, cell: (r) => r.run_count, csv: (r) => r.run_count },
    { id: 'predicted_s', title: t('quality.predicted'), isNumber: true, cell: (r) => formatDuration(r.predicted_s), csv: (r) => r.predicted_s },
    { id: 'actual_s', title: t('quality.actual'), isNumber: true, cell: (r) => formatDuration(r.actual_s), csv: (r) => r.actual_s },
    { id: 'ratio', title: t('quality.ratio'), isNumber: true, cell: (r) => formatNumber(r.median_ratio, locale, 3), csv: (r) => r.median_ratio },
    { id: 'within_share', title: t('quality.within'), isNumber: true, cell: (r) => formatShare(r.within_share), csv: (r) => r.within_share },
    { id: 'unknown', title: t('quality.operators.unknown'), isNumber: true, cell: (r) => r.unknown_count, csv: (r) => r.unknown_count },
    { id: 'similarity', title: t('quality.operators.similarity'), isNumber: true, isHidden: true, cell: (r) => formatShare(r.similarity), csv: (r) => r.similarity },
  ]
  return (
    <Ready query={query}>
      <p className="dim">{t('quality.operators.hint')}</p>
      {query.data?.items.length === 0 ? <p className="dim">{t('quality.operators.none')}</p>
        : <DataTable name="quality-by-operator" label={t('quality.operators')} columns={columns} rows={query.data?.items ?? []} rowKey={(r) => `${r.unit_type_id} ${r.operator}`} />}
    </Ready>
  )
}

export function TrustTable() {
  const { t, locale } = useLanguage()
  const query = useTrust()
  const columns: Column<Trust>[] = [
    { id: 'unit_type', title: t('quality.unit'), cell: (r) => <Link href={pathTo('/unit-types/:id', { id: r.unit_type_id })}>{r.center} / {r.unit_type}</Link>, csv: (r) => `${r.center}/${r.unit_type}` },
    { id: 'factor', title: t('quality.trust'), cell: (r) => <StatePill tone={r.factor >= 0.95 ? 'good' : r.factor >= 0.7 ? 'warn' : 'bad'}>{formatShare(r.factor)}</StatePill>, csv: (r) => r.factor },
    { id: 'slowdown', title: t('quality.trust.slowdown'), isNumber: true, cell: (r) => (r.job_count ? `${formatNumber(r.slowdown, locale, 2)} ×` : nothing), csv: (r) => r.slowdown },
    { id: 'interval', title: t('quality.trust.interval'), isNumber: true, cell: (r) => (r.job_count ? `${formatNumber(r.low, locale, 2)} – ${formatNumber(r.high, locale, 2)}` : nothing), csv: (r) => `${r.low} ${r.high}` },
    { id: 'job_count', title: t('quality.trust.jobs'), isNumber: true, cell: (r) => r.job_count, csv: (r) => r.job_count },
    { id: 'finding_count', title: t('quality.trust.findings'), isNumber: true, cell: (r) => r.finding_count, csv: (r) => r.finding_count },
    { id: 'finding_factor', title: t('quality.trust.left'), isNumber: true, cell: (r) => formatShare(r.finding_factor), csv: (r) => r.finding_factor },
    { id: 'results', title: t('quality.trust.results'), isNumber: true, cell: (r) => r.verified.result_count, csv: (r) => r.verified.result_count },
    { id: 'right', title: t('quality.trust.right'), isNumber: true, cell: (r) => r.verified.right_count, csv: (r) => r.verified.right_count },
    { id: 'wrong', title: t('quality.trust.wrong'), isNumber: true, cell: (r) => (r.verified.wrong_count ? <StatePill tone="bad">{r.verified.wrong_count}</StatePill> : 0), csv: (r) => r.verified.wrong_count },
    { id: 'pending', title: t('quality.trust.pending'), isNumber: true, cell: (r) => r.verified.pending_count, csv: (r) => r.verified.pending_count },
  ]
  const verification = query.data?.verification
  return (
    <Ready query={query}>
      <p className="dim">{t('quality.trust.hint')} {verification?.enabled ? t('quality.trust.on', { share: formatShare(verification.share) }) : t('quality.trust.off')}</p>
      {query.data?.items.length === 0 ? <p className="dim">{t('quality.trust.none')}</p>
        : <DataTable name="trust" label={t('quality.trust')} columns={columns} rows={query.data?.items ?? []} rowKey={(r) => r.unit_type_id} />}
    </Ready>
  )
}
