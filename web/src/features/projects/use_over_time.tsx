import { useComputedColorScheme } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useLanguage } from '../../i18n/language'
import { useUsageSince } from '../../queries/usage'
import { Chart } from '../../ui/chart'
import type { ChartOption } from '../../ui/chart_core'
import { type Column, DataTable } from '../../ui/data_table'
import { formatNumber } from '../../ui/format'
import { barStyle, mostSeries } from '../../ui/series_style'
import { Ready } from '../../ui/states'
import { type DayUse, placesOf, stacksOf, usageByDay } from './by_day'

const days = 30

/** What a project used on each of the last days. */
export function UseOverTime({ project }: { project: string }) {
  const { t } = useLanguage()
  const [from] = useState(() => new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10))
  const query = useUsageSince(project, from)
  const records = query.data
  const updated = query.dataUpdatedAt
  const uses = useMemo(() => usageByDay(records ?? [], updated, days), [records, updated])
  return (
    <Ready query={query}>
      {placesOf(uses).length === 0 ? <p className="dim">{t('projects.time.none')}</p> : <Days uses={uses} />}
      {query.isCut ? <p className="dim">{t('projects.time.cut', { n: records?.length ?? 0 })}</p> : null}
    </Ready>
  )
}

function Days({ uses }: { uses: DayUse[] }) {
  const { t, locale } = useLanguage()
  const scheme = useComputedColorScheme('light')
  const places = useMemo(() => placesOf(uses), [uses])
  const option = useMemo((): ChartOption => ({
    grid: { left: 58, right: 12, top: 34, bottom: 44 }, legend: { top: 0, type: 'scroll' }, tooltip: { trigger: 'axis', valueFormatter: (v) => `${Number(v).toPrecision(3)} h` },
    xAxis: { type: 'category', data: uses.map((use) => use.day), name: t('projects.time.day'), nameLocation: 'middle', nameGap: 28 },
    yAxis: { type: 'value', name: t('projects.time.axis'), nameLocation: 'middle', nameGap: 42 },
    series: stacksOf(uses, mostSeries).map(({ place, count, hours }, i) => ({
      type: 'bar' as const, stack: 'use', name: place ?? t('projects.time.others', { n: count }), data: hours, ...barStyle(i, scheme) })),
  }), [uses, scheme, t])
  const used = uses.filter((use) => use.hours.size > 0).reverse()
  const columns: Column<DayUse>[] = [
    { id: 'day', title: t('projects.time.day'), cell: (use) => use.day, csv: (use) => use.day },
    ...places.map((place): Column<DayUse> => ({ id: place, title: place, isNumber: true, cell: (use) => formatNumber(use.hours.get(place) ?? 0, locale, 4), csv: (use) => use.hours.get(place) ?? 0 })),
    { id: 'total', title: t('projects.time.total'), isNumber: true, cell: (use) => formatNumber([...use.hours.values()].reduce((a, b) => a + b, 0), locale, 4), csv: (use) => [...use.hours.values()].reduce((a, b) => a + b, 0) },
  ]
  return (
    <>
      <Chart option={option} label={t('projects.time.label')} />
      <DataTable name="project-use-by-day" label={t('projects.time.table')} columns={columns} rows={used} rowKey={(use) => use.day} />
    </>
  )
}
