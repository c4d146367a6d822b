import { Button, Checkbox, NativeSelect } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from '../../app/router/link'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { useOperators } from '../../queries/operators'
import { type ScalingCurve, useScalingCurves } from '../../queries/scaling_curves'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Page, Section } from '../../ui/page'
import { formatFigure, formatSize } from '../../ui/rates'
import { mostSeries } from '../../ui/series_style'
import { ServerText } from '../../ui/server_text'
import { EmptyState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { useCenterOptions } from '../centers/center_options'
import measuring from '../measuring/measuring.module.css'
import { CurveChart } from './curve_chart'
import { keyOf, nameOfCurve, type Shown } from './curve_figures'
import { CurveTable } from './curve_table'

const views: readonly Shown[] = ['efficiency', 'speedup', 'rate']

export function ScalingPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(['center', 'operator', 'show', 'pick'])
  const shown = views.find((view) => view === raw.show) ?? 'efficiency'
  const query = useScalingCurves(raw)
  const centers = useCenterOptions({ none: t('ui.any'), chosen: raw.center })
  const operators = useOperators()
  const items = query.items
  const drawn = useMemo(() => {
    const drawable = (items ?? []).filter((curve) => curve.curve?.length)
    // Until somebody picks, the first few are drawn.
    const picked = raw.pick ? new Set(raw.pick.split(';')) : new Set(drawable.slice(0, 3).map(keyOf))
    return drawable.filter((curve) => picked.has(keyOf(curve))).slice(0, mostSeries)
  }, [items, raw.pick])
  const keys = drawn.map(keyOf)
  const toggle = (curve: ScalingCurve) => {
    const key = keyOf(curve)
    change({ pick: (keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key]).join(';') || 'none' })
  }
  const isFiltered = raw.center !== '' || raw.operator !== ''
  const measure = may('manage_metering') ? <Link href="/measure">{t('runs.measure')}</Link> : undefined
  const columns: Column<ScalingCurve>[] = [
    { id: 'drawn', title: t('scaling.drawn'), cell: (c) => (
      <Checkbox aria-label={t('scaling.draw', { name: `${nameOfCurve(c)} ${formatSize(c.parameters)}` })} checked={keys.includes(keyOf(c))}
        disabled={!c.curve?.length || (!keys.includes(keyOf(c)) && keys.length >= mostSeries)} onChange={() => toggle(c)} />) },
    { id: 'center', title: t('measure.center'), cell: (c) => c.center, csv: (c) => c.center },
    { id: 'unit_type', title: t('measure.unit_type'), cell: (c) => c.unit_type, csv: (c) => c.unit_type },
    { id: 'operator', title: t('measure.operator'), cell: (c) => c.operator, csv: (c) => c.operator },
    { id: 'size', title: t('measure.size'), cell: (c) => <code>{formatSize(c.parameters)}</code>, csv: (c) => formatSize(c.parameters) },
    { id: 'mode', title: t('scaling.mode'), cell: (c) => (c.mode ? t(`scaling.mode.${c.mode}`) : nothing), csv: (c) => c.mode },
    { id: 'model', title: t('scaling.model'), cell: (c) => (c.models?.[0] ? t(`scaling.model.${c.models[0].model}`) : nothing), csv: (c) => c.models?.[0]?.model },
    { id: 'left_out_error', title: t('scaling.model.error'), isNumber: true, cell: (c) => formatFigure(c.models?.[0]?.left_out_error), csv: (c) => c.models?.[0]?.left_out_error },
    { id: 'largest', title: t('scaling.largest'), isNumber: true, cell: (c) => c.largest_measured ?? nothing, csv: (c) => c.largest_measured },
    { id: 'knee', title: t('scaling.knee'), isNumber: true, cell: (c) => c.knee ?? nothing, csv: (c) => c.knee },
    { id: 'measured_at', title: t('scaling.measured'), cell: (c) => <Time at={c.measured_at} />, csv: (c) => c.measured_at },
    { id: 'problem', title: t('scaling.problem'), isText: true, cell: (c) => (c.problem ? <ServerText>{c.problem}</ServerText> : nothing), csv: (c) => c.problem, isHidden: true },
  ]
  return (
    <Page title={t('scaling.title')} actions={measure}>
      <div className={measuring.tools}>
        <NativeSelect label={t('measure.center')} value={raw.center} onChange={(e) => change({ center: e.currentTarget.value, pick: '' })}
          data={centers} />
        <NativeSelect label={t('measure.operator')} value={raw.operator} onChange={(e) => change({ operator: e.currentTarget.value, pick: '' })}
          data={[{ value: '', label: t('ui.any') }, ...(operators.data ?? []).map((operator) => operator.id)]} />
        <NativeSelect label={t('scaling.show')} value={shown} onChange={(e) => change({ show: e.currentTarget.value })}
          data={views.map((view) => ({ value: view, label: t(`scaling.show.${view}`) }))} />
      </div>
      <Ready query={query}>
        {(items ?? []).length === 0 ? (isFiltered
          ? <EmptyState title={t('scaling.none')} action={<Button onClick={() => change({ center: '', operator: '' })}>{t('measure.clear')}</Button>} />
          : <EmptyState title={t('scaling.none.yet')} action={measure}>{t('scaling.none.text')}</EmptyState>) : (
          <>
            {drawn.length > 0 ? <CurveChart curves={drawn} shown={shown} /> : <p className="dim">{t('scaling.chart.none')}</p>}
            <p className={measuring.note}>{t('scaling.chart.key')} {keys.length >= mostSeries ? t('scaling.most', { n: mostSeries }) : ''}</p>
            <Section title={t('scaling.curves')}>
              <DataTable name="scaling-curves" label={t('scaling.curves')} columns={columns} rows={items ?? []} rowKey={keyOf} pages={query} />
            </Section>
            <CurveTable curves={drawn} />
          </>)}
      </Ready>
    </Page>
  )
}
