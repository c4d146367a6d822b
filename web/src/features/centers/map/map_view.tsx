import { type ReactNode, useMemo } from 'react'
import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import type { Center } from '../../../queries/centers'
import { useTimedNetworks } from '../../../queries/network_windows'
import { CutMark, PartMark } from '../../../ui/cut_list'
import { type Column, DataTable } from '../../../ui/data_table'
import { nothing } from '../../../ui/format'
import { formatByteRate } from '../../../ui/rates'
import { StatePill } from '../../../ui/state_pill'
import { BusyMark, ErrorState } from '../../../ui/states'
import measuring from '../../measuring/measuring.module.css'
import { goodHoursText } from '../../network_windows/good_hours_text'
import { toneOf } from '../health'
import { type MapCenter, mapCenters } from './map_center'
import { drawnOf } from './map_layout'
import { NetworkMap } from './network_map'

/** Asks for what the map's lines tell together with the centers, not after them. Draws nothing. */
export function AskForNetworks() {
  useTimedNetworks()
  return null
}

/** The centers that fit the filters as a map, and as a table of the same figures. */
export function MapView({ centers, tools, empty }: { centers: readonly Center[]; tools: ReactNode; empty: ReactNode }) {
  const t = useText()
  const networks = useTimedNetworks()
  const { data: windows, isPart, isCut } = networks
  const all = useMemo(() => mapCenters(centers, windows ?? [], windows !== undefined && !isPart && !isCut), [centers, windows, isPart, isCut])
  const drawn = useMemo(() => drawnOf(all), [all])
  return (
    <>
      <div className={measuring.tools}>{tools}</div>
      {windows === undefined ? <Missing query={networks} /> : null}
      <PartMark list={networks} />
      <CutMark list={networks} name={t('windows.title')} />
      {all.length === 0 ? empty : (
        <>
          {drawn.length < all.length ? <p role="status" className={measuring.note}>{t('centers.map.most', { n: drawn.length, all: all.length })}</p> : null}
          <NetworkMap centers={drawn} />
          <p className={measuring.note}>{t('centers.map.key')} <Link className="in-text" href="/network-windows">{t('windows.title')}</Link></p>
          <details>
            <summary>{t('measure.table')}</summary>
            <MapTable centers={all} />
          </details>
        </>
      )}
    </>
  )
}

/** The map is drawn without what its lines tell until that has come. */
function Missing({ query }: { query: { isError: boolean; error: unknown; refetch: () => unknown } }) {
  const t = useText()
  return query.isError ? <ErrorState error={query.error} retry={() => void query.refetch()} /> : <BusyMark>{t('centers.map.reading.all')}</BusyMark>
}

function MapTable({ centers }: { centers: readonly MapCenter[] }) {
  const t = useText()
  const use = (center: MapCenter) => `${center.used} / ${center.all}`
  const columns: Column<MapCenter>[] = [
    { id: 'name', title: t('centers.name'), cell: (c) => <Link href={pathTo('/centers/:center', { center: c.name })}>{c.name}</Link>, csv: (c) => c.name },
    { id: 'health', title: t('centers.state'), cell: (c) => <StatePill tone={toneOf(c.health)}>{t(`centers.state.${c.health}`)}</StatePill>, csv: (c) => c.health },
    { id: 'units_in_use', title: t('centers.units'), isNumber: true, cell: use, csv: use },
    { id: 'rate_bytes', title: t('centers.map.rate'), isNumber: true, cell: (c) => formatByteRate(c.link?.rateBytes), csv: (c) => c.link?.rateBytes },
    { id: 'good_hours', title: t('windows.good'), cell: (c) => (c.link ? goodHoursText(c.link.goodHours, t) : nothing), csv: (c) => (c.link ? goodHoursText(c.link.goodHours, t) : null) },
    { id: 'sample_count', title: t('windows.samples'), isNumber: true, cell: (c) => c.link?.sampleCount ?? nothing, csv: (c) => c.link?.sampleCount },
  ]
  return <DataTable name="centers-map" label={t('centers.map.table')} columns={columns} rows={centers} rowKey={(c) => c.id} />
}
