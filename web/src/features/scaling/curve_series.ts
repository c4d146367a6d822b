import type { Translate } from '../../i18n/language'
import type { ScalingCurve } from '../../queries/scaling_curves'
import type { ChartOption } from '../../ui/chart_core'
import { formatFigure } from '../../ui/rates'
import { seriesStyle } from '../../ui/series_style'
import { measuredOf, modelOf, type Shown } from './curve_figures'

type Series = Extract<NonNullable<ChartOption['series']>, readonly unknown[]>[number]

/**
 * The model, the band, the measured points and the knee of one curve, in one colour, dash and marker. All of them have the curve's name, so
 * that the legend hides and shows them together; the first one is what the legend draws.
 */
export function seriesOf(curve: ScalingCurve, name: string, index: number, shown: Shown, scheme: 'light' | 'dark', t: Translate): Series[] {
  const style = seriesStyle(index, scheme)
  const model = modelOf(curve, shown)
  const knee = model.find((figure) => figure.units === curve.knee)
  const bare = { type: 'line' as const, name, stack: `band ${index}`, symbol: 'none', silent: true, z: 1, lineStyle: { opacity: 0 }, tooltip: { show: false } }
  const told = (kind: string) => ({ formatter: ({ value }: { value: unknown }) => (Array.isArray(value)
    ? `${name}\n${kind}: ${t('scaling.axis.units')} ${String(value[0])}, ${formatFigure(Number(value[1]))}` : name) })
  return [
    { type: 'line', name, data: model.map((f) => [f.units, f.value]), symbol: 'none', color: style.color, lineStyle: { color: style.color, width: 2, type: style.dash } },
    { ...bare, data: model.map((f) => [f.units, f.low]) },
    { ...bare, data: model.map((f) => [f.units, f.high - f.low]), areaStyle: { color: style.color, opacity: 0.14 } },
    { type: 'scatter', name, data: measuredOf(curve, shown).map((f) => [f.units, f.value]), symbol: style.symbol, symbolSize: 9, color: style.color, tooltip: told(t('scaling.kind.measured')) },
    ...(knee ? [{ type: 'scatter' as const, name, data: [[knee.units, knee.value]], symbol: 'diamond', symbolSize: 18,
      itemStyle: { color: 'transparent', borderColor: style.color, borderWidth: 2 }, tooltip: told(t('scaling.knee')) }] : []),
  ]
}
