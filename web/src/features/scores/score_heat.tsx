import { useLanguage, useSentence } from '../../i18n/language'
import type { AnyScore } from '../../queries/scores'
import { formatDuration, formatNumber, formatTime } from '../../ui/format'
import { type HeatCell, HeatLegend, HeatMap } from '../../ui/heat_map'
import { rangeOf, shadeOf } from '../../ui/heat_scale'
import { useZone } from '../../ui/zone'
import measuring from '../measuring/measuring.module.css'
import { historyPath } from './history'
import { isOperatorScore, type ScoreMap } from './score_map'

/** Unit types against operators; each cell says its points and their interval. */
export function ScoreHeat({ map, shades, policy }: { map: ScoreMap; shades: 'column' | 'all'; policy: string }) {
  const { t, locale } = useLanguage()
  const { zone } = useZone()
  const say = useSentence()
  const valuesOf = (column: string) => map.rows.map((row) => map.at(row.key, column)?.score)
  const all = rangeOf(map.columns.flatMap((column) => valuesOf(column.key)))
  const ranges = new Map(map.columns.map((column) => [column.key, shades === 'all' ? all : rangeOf(valuesOf(column.key))]))

  function titleOf(score: AnyScore): string {
    const missing = score.missing_reason ? say(score.missing_reason) : ''
    if (!isOperatorScore(score)) return missing
    return [formatDuration(score.median_s), formatTime(score.measured_at, zone), missing].filter(Boolean).join(' · ')
  }
  function cell(row: string, column: string): HeatCell | null {
    const score = map.at(row, column)
    const range = ranges.get(column)
    if (!score) return null
    const points = (value: number | null) => formatNumber(value, locale, value !== null && value < 10 ? 1 : 0)
    return {
      shade: range ? shadeOf(score.score, range.low, range.high, true) : null,
      text: points(score.score),
      sub: score.score === null ? '' : `${points(score.score_low)}–${points(score.score_high)}`,
      title: titleOf(score),
      ...(isOperatorScore(score) ? { href: historyPath(score, policy) } : {}),
    }
  }
  return (
    <>
      <HeatMap label={t('scores.title')} corner={t('measure.unit_type')} cell={cell}
        rows={map.rows.map((row) => ({ key: row.key, name: row.unitType, sub: row.center }))}
        columns={map.columns.map((column) => ({ key: column.key, name: column.name || t('scores.whole'), sub: column.size }))} />
      <HeatLegend low={t('scores.least')} high={t('scores.greatest')} />
      <p className={measuring.note}>{t(shades === 'all' ? 'scores.legend.all' : 'scores.legend.column')} {map.columns.some((c) => c.size) ? t('scores.sizes') : ''}</p>
    </>
  )
}
