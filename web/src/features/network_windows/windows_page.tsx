import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../app/router/link'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { useNetworkWindows } from '../../queries/network_windows'
import { CsvButton } from '../../ui/csv_button'
import { toIso, toTyped } from '../../ui/forms/moments'
import { Page } from '../../ui/page'
import { EmptyState, Ready } from '../../ui/states'
import { InZone, useZone } from '../../ui/zone'
import { useCenterOptions } from '../centers/center_options'
import measuring from '../measuring/measuring.module.css'
import { parseTransfer, sizeUnits } from './week'
import { WindowSection } from './window_section'

const zones = ['utc', 'local'] as const

export function NetworkWindowsPage() {
  const t = useText()
  const [raw, change] = useFilters(['center', 'size', 'unit', 'latest', 'zone'])
  const remembered = useZone().zone
  const zone = zones.find((one) => one === raw.zone) ?? remembered
  const unit = sizeUnits.includes(raw.unit) ? raw.unit : 'GB'
  const [size, setSize] = useState(raw.size)
  // In the address it stands in UTC, so that a link means the same whatever the zone.
  const latest = toIso(raw.latest, 'utc')
  const query = useNetworkWindows({
    center: raw.center, sizeBytes: parseTransfer(raw.size, unit), latestStart: latest ?? '' })
  const centers = useCenterOptions({ none: t('ui.any'), chosen: raw.center })
  const windows = query.items ?? []
  const clear = () => {
    setSize('')
    change({ center: '', size: '', unit: '', latest: '' })
  }
  return (
    <Page title={t('windows.title')}>
      <div className={measuring.tools}>
        <NativeSelect label={t('measure.center')} value={raw.center} onChange={(e) => change({ center: e.currentTarget.value })}
          data={centers} />
        <form className={measuring.tools} style={{ margin: 0 }} aria-label={t('windows.plan')} onSubmit={(event) => {
          event.preventDefault()
          change({ size })
        }}>
          <TextInput label={`${t('windows.plan')}: ${t('windows.size')}`} w={150} inputMode="decimal" value={size} onChange={(e) => setSize(e.currentTarget.value)}
            onBlur={() => change({ size })} />
          <NativeSelect label={t('windows.size.unit')} w={90} value={unit} data={sizeUnits} onChange={(e) => change({ unit: e.currentTarget.value })} />
          <TextInput type="datetime-local" label={t('windows.latest', { zone: t(`windows.zone.${zone}`) })} title={t('windows.latest.hint')}
            value={toTyped(latest, zone)} onChange={(e) => change({ latest: toTyped(toIso(e.currentTarget.value, zone), 'utc') })} />
        </form>
        <NativeSelect label={t('windows.zone')} w={130} value={zone} onChange={(e) => change({ zone: e.currentTarget.value })}
          data={zones.map((one) => ({ value: one, label: t(`windows.zone.${one}`) }))} />
        <span className={measuring.push}>
          <CsvButton name="network-windows" header={['center', 'unit_type', 'hour_of_week', 'median_rate_bytes', 'spread', 'count']}
            rows={() => windows.flatMap((w) => w.hours.map((h) => [w.center, w.unit_type, h.hour_of_week, h.median_rate_bytes, h.spread, h.count]))} />
        </span>
      </div>
      <Ready query={query}>
        {windows.length === 0 ? (raw.center
          ? <EmptyState title={t('windows.none')} action={<Button onClick={clear}>{t('measure.clear')}</Button>} />
          : <EmptyState title={t('windows.none.yet')} action={<Link href="/probe-schedules">{t('windows.none.do')}</Link>}>{t('windows.none.text')}</EmptyState>) : null}
        <InZone zone={zone}>{windows.map((window) => <WindowSection key={window.unit_type_id} window={window} />)}</InZone>
        {query.hasNextPage ? <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{t('ui.more')}</Button> : null}
      </Ready>
    </Page>
  )
}
