import { useText } from '../../i18n/language'
import type { ScalingCurve } from '../../queries/scaling_curves'
import { DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { formatFigure } from '../../ui/rates'
import { baseRate, convert, namesOf } from './curve_figures'

interface Row {
  key: string
  curve: string
  isMeasured: boolean
  isKnee: boolean
  units: number
  rate: number
  low: number | null
  high: number | null
  base: number | null
}

function rowsOf(curve: ScalingCurve, name: string, index: number): Row[] {
  const shared = { curve: name, base: baseRate(curve) }
  return [
    ...(curve.points ?? []).map((p) => ({
      ...shared, key: `${index} m ${p.unit_count}`, isMeasured: true, isKnee: false, units: p.unit_count, rate: p.rate, low: null, high: null })),
    ...(curve.curve ?? []).map((p) => ({
      ...shared, key: `${index} c ${p.unit_count}`, isMeasured: false, isKnee: p.unit_count === curve.knee, units: p.unit_count, rate: p.rate, low: p.low, high: p.high })),
  ]
}

/** The figures of the drawn curves: what the chart shows, for those who do not see it. */
export function CurveTable({ curves }: { curves: readonly ScalingCurve[] }) {
  const t = useText()
  const names = namesOf(curves)
  const rows = curves.flatMap((curve, i) => rowsOf(curve, names[i] ?? '', i))
  if (rows.length === 0) return null
  return (
    <Section title={t('scaling.figures')}>
      <DataTable name="scaling-figures" label={t('scaling.figures')} rows={rows} rowKey={(r) => r.key} columns={[
        { id: 'curve', title: t('scaling.curve'), cell: (r) => r.curve, csv: (r) => r.curve },
        { id: 'kind', title: t('scaling.kind'), csv: (r) => (r.isMeasured ? 'measured' : 'model'),
          cell: (r) => t(r.isMeasured ? 'scaling.kind.measured' : 'scaling.kind.model') + (r.isKnee ? `, ${t('scaling.knee')}` : '') },
        { id: 'units', title: t('measure.units'), isNumber: true, cell: (r) => r.units, csv: (r) => r.units },
        { id: 'rate', title: t('scaling.rate'), isNumber: true, cell: (r) => formatFigure(r.rate), csv: (r) => r.rate },
        { id: 'interval', title: t('scaling.interval'), isNumber: true, csv: (r) => (r.low === null ? '' : `${r.low} ${r.high ?? ''}`),
          cell: (r) => (r.low === null ? nothing : `${formatFigure(r.low)} – ${formatFigure(r.high)}`) },
        { id: 'speedup', title: t('scaling.speedup'), isNumber: true, cell: (r) => formatFigure(convert(r.rate, r.units, r.base, 'speedup')), csv: (r) => convert(r.rate, r.units, r.base, 'speedup') },
        { id: 'efficiency', title: t('scaling.efficiency'), isNumber: true, cell: (r) => convert(r.rate, r.units, r.base, 'efficiency').toFixed(3), csv: (r) => convert(r.rate, r.units, r.base, 'efficiency') },
      ]} />
    </Section>
  )
}
