import { useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { useText } from '../../i18n/language'
import { type SpeedupCurve, type SpeedupQuestion, useSpeedupCurves } from '../../queries/speedup'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { DataTable } from '../../ui/data_table'
import { Section } from '../../ui/page'
import { formatFigure } from '../../ui/rates'
import { axisNameStyle, seriesStyle } from '../../ui/series_style'
import { ErrorState, LoadingState } from '../../ui/states'
import measuring from '../measuring/measuring.module.css'
import { classes, networks } from './question'

/**
 * The question asked of each class and network: the one of the form, and the two that every data center knows. With the
 * class measured, the two others are asked of the form's network alone, for no more lines can be told apart.
 */
function variantsOf(question: SpeedupQuestion) {
  const own = question.network_gb_s
  const known = (Object.entries(networks) as ['ten' | 'ib', string][]).filter(([, b]) => Number(b) !== own)
  const form = [{ id: 'own' as const, b: own }]
  const all = [...form, ...known.map(([id, b]) => ({ id, b: Number(b) }))]
  const isMeasured = question.class === 'measured'
  return classes.filter((kind) => kind !== 'measured' || isMeasured).flatMap((kind) => {
    const rest = { ...question, class: kind }
    delete rest.seconds_per_100mb
    if (kind !== 'measured') delete rest.exponent
    return (isMeasured && kind !== 'measured' ? form : all).map(({ id, b }) => ({
      kind, id, b, question: { ...rest, ...(b === undefined ? {} : { network_gb_s: b }) } }))
  })
}

/** Speed-up against t, a curve for each class and network (S7). */
export function SpeedupCurves({ question }: { question: SpeedupQuestion }) {
  const t = useText()
  const scheme = useComputedColorScheme('light')
  const variants = useMemo(() => variantsOf(question), [question])
  const answers = useSpeedupCurves(variants.map((variant) => variant.question))
  const failed = answers.find((answer) => answer.isError)
  const data = answers.map((answer) => answer.data)
  const stamp = answers.map((answer) => answer.dataUpdatedAt).join()
  const names = useMemo(() => variants.map(({ kind, id, b }) => {
    const network = id !== 'own' ? t(`speedup.network.${id}`)
      : b === undefined ? t('speedup.network.center', { center: question.center ?? '' }) : t('speedup.network.own', { b })
    return `${t(`speedup.kind.${kind}`)}, ${network}`
  }), [variants, question.center, t])
  const option = useMemo<ChartOption>(() => ({
    grid: { left: 58, right: 66, top: 58, bottom: 44 },
    legend: { top: 0, itemWidth: 34, data: [...names] },
    tooltip: { trigger: 'axis', valueFormatter: (value) => (typeof value === 'number' ? value.toPrecision(4) : String(value)) },
    xAxis: { type: 'log', name: t('speedup.curve.x'), nameLocation: 'middle', nameGap: 26, nameTextStyle: axisNameStyle(scheme), min: 0.001, max: 10 },
    yAxis: { type: 'log', name: t('speedup.curve.y'), nameLocation: 'middle', nameGap: 40, nameTextStyle: axisNameStyle(scheme) },
    series: data.flatMap((curve: SpeedupCurve | undefined, i) => {
      if (!curve) return []
      const style = seriesStyle(i, scheme)
      return [{
        type: 'line' as const, name: names[i] ?? '', data: curve.items.map((item) => [item.seconds_per_100mb, item.speedup]), symbol: style.symbol, symbolSize: 6,
        color: style.color, lineStyle: { color: style.color, width: 1.8, type: style.dash },
        ...(i === 0 ? { markLine: { silent: true, symbol: 'none', label: { formatter: t('speedup.curve.threshold'), position: 'end' as const, color: style.color },
          lineStyle: { type: 'dashed' as const, color: scheme === 'dark' ? '#c3c9d0' : '#4b545e' }, data: [{ yAxis: curve.threshold }] } } : {}),
      }]
    }),
    // The answers' times say when `data` has changed; the array itself is new each time.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }), [names, stamp, scheme, t])
  if (failed) return <Section title={t('speedup.curve')}><ErrorState error={failed.error} retry={() => answers.forEach((answer) => void answer.refetch())} /></Section>
  if (data.some((curve) => curve === undefined)) return <Section title={t('speedup.curve')}><LoadingState /></Section>
  const points = data[0]?.items ?? []
  return (
    <Section title={t('speedup.curve')}>
      <Chart option={option} height={380} label={t('speedup.curve.label')} />
      <p className={measuring.note}>{t('speedup.curve.key')}</p>
      <details>
        <summary>{t('measure.table')}</summary>
        <DataTable name="speedup-curves" label={t('speedup.curve')} rows={points.map((point, i) => ({ t: point.seconds_per_100mb, i }))} rowKey={(row) => String(row.i)} columns={[
          { id: 't', title: 't, s', isNumber: true, cell: (row) => formatFigure(row.t), csv: (row) => row.t },
          ...names.map((name, at) => ({
            id: name, title: name, isNumber: true, cell: (row: { i: number }) => data[at]?.items[row.i]?.speedup.toFixed(4) ?? '', csv: (row: { i: number }) => data[at]?.items[row.i]?.speedup })),
        ]} />
      </details>
    </Section>
  )
}
