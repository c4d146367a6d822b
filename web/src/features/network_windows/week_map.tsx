import { useText } from '../../i18n/language'
import type { NetworkWindow } from '../../queries/network_windows'
import { DataTable } from '../../ui/data_table'
import { formatShare } from '../../ui/format'
import { type HeatCell, HeatLegend, HeatMap } from '../../ui/heat_map'
import { rangeOf, shadeOf } from '../../ui/heat_scale'
import { formatByteRate } from '../../ui/rates'
import measuring from '../measuring/measuring.module.css'
import { clockText, goodHours, hourOfWeek, minutesPast, offsetName, rateUnit, shiftedHour } from './week'

const days = ['0', '1', '2', '3', '4', '5', '6'] as const
const clock = Array.from({ length: 24 }, (_, hour) => hour)

/** Bandwidth by hour and weekday, and once more by the hour of any day; by a clock that is so far ahead of UTC. */
export function WeekMap({ window, offsetMin }: { window: NetworkWindow; offsetMin: number }) {
  const t = useText()
  const zone = offsetName(offsetMin)
  const past = minutesPast(offsetMin)
  const ofWeek = (hour: number) => shiftedHour(hour, 168, offsetMin)
  const place = `${window.center}/${window.unit_type}`
  const rates = [...window.hours, ...window.hours_of_day].map((hour) => hour.median_rate_bytes)
  const unit = rateUnit(rates)
  const range = rangeOf(rates)
  const good = goodHours(window.good_hours, offsetMin)
  const marked = new Set(window.steps.map((step) => ofWeek(hourOfWeek(step.at, window.hour_s))))
  const byWeek = new Map(window.hours.map((hour) => [ofWeek(hour.hour_of_week), hour]))
  const byDay = new Map(window.hours_of_day.map((hour) => [shiftedHour(hour.hour_of_day, 24, offsetMin), hour]))

  function cell(row: string, column: string): HeatCell | null {
    const hour = Number(column)
    const at = row === 'any' ? null : Number(row) * 24 + hour
    const figure = at === null ? byDay.get(hour) : byWeek.get(at)
    if (!figure || !range) return null
    return {
      shade: shadeOf(figure.median_rate_bytes, range.low, range.high), text: (figure.median_rate_bytes / unit.size).toPrecision(2),
      isMarked: at !== null && marked.has(at),
      title: t('windows.cell', { day: row === 'any' ? t('windows.day.any') : t(`windows.day.${row as (typeof days)[number]}`), from: clockText(hour * 60 + past), n: figure.count, spread: formatShare(figure.spread) }),
    }
  }
  return (
    <>
      <HeatMap isCompact label={t('windows.map', { place, unit: unit.name, zone })} corner={t('windows.day')} cell={cell}
        rows={[...days.map((day) => ({ key: day, name: t(`windows.day.${day}`) })), { key: 'any', name: t('windows.day.any') }]}
        columns={clock.map((hour) => ({ key: String(hour), name: past ? clockText(hour * 60 + past) : String(hour).padStart(2, '0'), isStrong: good.has(hour) }))} />
      {range ? <HeatLegend low={formatByteRate(range.low)} high={formatByteRate(range.high)} /> : null}
      <p className={measuring.note}>{t('windows.key', { unit: unit.name })}</p>
      <details>
        <summary>{t('measure.table')}</summary>
        <DataTable name="network-hours" label={`${t('windows.hours')} ${place}`} rows={[...window.hours].sort((a, b) => ofWeek(a.hour_of_week) - ofWeek(b.hour_of_week))} rowKey={(h) => String(h.hour_of_week)} columns={[
          { id: 'day', title: t('windows.day'), cell: (h) => t(`windows.day.${days[Math.floor(ofWeek(h.hour_of_week) / 24)] ?? '0'}`), csv: (h) => Math.floor(h.hour_of_week / 24) },
          { id: 'hour', title: t('windows.from', { zone }), isNumber: true, cell: (h) => clockText(h.hour_of_week * 60 + offsetMin), csv: (h) => h.hour_of_week % 24 },
          { id: 'median_rate_bytes', title: t('windows.rate'), isNumber: true, cell: (h) => formatByteRate(h.median_rate_bytes), csv: (h) => h.median_rate_bytes },
          { id: 'spread', title: t('measure.spread'), isNumber: true, cell: (h) => formatShare(h.spread), csv: (h) => h.spread },
          { id: 'count', title: t('windows.samples'), isNumber: true, cell: (h) => h.count, csv: (h) => h.count },
        ]} />
      </details>
    </>
  )
}
