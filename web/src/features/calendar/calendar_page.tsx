import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { useMaintenance, useReservations } from '../../queries/calendar'
import { useNow } from '../../ui/ago'
import { formatTime } from '../../ui/format'
import { TextFilter } from '../../ui/forms/text_filter'
import { Page, Section } from '../../ui/page'
import { Ready } from '../../ui/states'
import { useZone } from '../../ui/zone'
import { useCenterOptions } from '../centers/center_options'
import styles from './calendar.module.css'
import { EntryDialog } from './entry_dialog'
import { type Entry, entriesByCenter } from './entries'
import { MaintenanceForm, ReserveForm } from './forms'
import { dateOf, windowOf } from './layout'
import { MaintenanceTable, Reservations } from './tables'
import { TimeLine } from './time_line'

const spans = ['1', '7', '31'] as const

/** What is kept for whom, and when centers take no work. */
export function CalendarPage() {
  const t = useText()
  const { may } = useSession()
  const { zone } = useZone()
  const [raw, change] = useFilters(['center', 'project', 'show', 'span', 'from'])
  const filters = { center: raw.center, project: raw.project, open: raw.show !== 'all' }
  const span = spans.find((s) => s === raw.span) ?? '7'
  const centers = useCenterOptions({ none: t('ui.any'), chosen: filters.center })
  const reservations = useReservations(filters)
  const maintenance = useMaintenance(filters)
  const [form, setForm] = useState<'reserve' | 'plan' | null>(null)
  const [opened, setOpened] = useState<{ entry: Entry; isCancelling: boolean } | null>(null)
  const now = useNow()
  const offsetMs = zone === 'utc' ? 0 : -new Date(now).getTimezoneOffset() * 60_000
  const { from, until } = windowOf(raw.from, Number(span), now, offsetMs)
  const move = (windows: number) => change({ from: dateOf(from + windows * (until - from), offsetMs) })
  const byCenter = entriesByCenter(reservations.data ?? [], maintenance.data ?? [])
  const cancel = (entry: Entry) => setOpened({ entry, isCancelling: true })
  const shown = t('calendar.shown', { from: formatTime(new Date(from).toISOString(), zone), until: formatTime(new Date(until).toISOString(), zone) })

  return (
    <Page title={t('calendar.title')} actions={
      <>
        {may('submit_jobs') ? <Button variant="filled" onClick={() => setForm('reserve')}>{t('calendar.reserve')}</Button> : null}
        {may('manage_network') ? <Button onClick={() => setForm('plan')}>{t('calendar.plan')}</Button> : null}
      </>
    }>
      <div className={styles.filters}>
        <NativeSelect label={t('calendar.center')} value={filters.center} onChange={(e) => change({ center: e.currentTarget.value })}
          data={centers} />
        <TextFilter label={t('calendar.project')} value={filters.project} onChange={(project) => change({ project })} />
        <NativeSelect label={t('calendar.show')} value={raw.show === 'all' ? 'all' : ''} onChange={(e) => change({ show: e.currentTarget.value })}
          data={[{ value: '', label: t('calendar.show.open') }, { value: 'all', label: t('calendar.show.all') }]} />
        <NativeSelect label={t('calendar.span')} value={span} onChange={(e) => change({ span: e.currentTarget.value === '7' ? '' : e.currentTarget.value })}
          data={spans.map((s) => ({ value: s, label: t(`calendar.span.${s}`) }))} />
        <Button.Group>
          <Button onClick={() => move(-1)}>{t('calendar.earlier')}</Button>
          <Button onClick={() => change({ from: '' })}>{t('calendar.today')}</Button>
          <Button onClick={() => move(1)}>{t('calendar.later')}</Button>
        </Button.Group>
      </div>
      <Section title={t('calendar.line')} side={<span className="dim">{shown}</span>}>
        <Ready query={reservations}>
          <Ready query={maintenance}>
            {byCenter.length === 0 ? <p className="dim">{t('calendar.empty')}</p>
              : <TimeLine centers={byCenter} from={from} until={until} offsetMs={offsetMs} onOpen={(entry) => setOpened({ entry, isCancelling: false })} />}
          </Ready>
        </Ready>
      </Section>
      <Section title={t('calendar.reservations')}>
        <Ready query={reservations}><Reservations rows={reservations.data ?? []} onCancel={may('submit_jobs') ? cancel : null} /></Ready>
      </Section>
      <Section title={t('calendar.maintenance')}>
        <Ready query={maintenance}><MaintenanceTable rows={maintenance.data ?? []} onCancel={may('manage_network') ? cancel : null} /></Ready>
      </Section>
      {form === 'reserve' ? <ReserveForm center={filters.center} project={filters.project} onClose={() => setForm(null)} /> : null}
      {form === 'plan' ? <MaintenanceForm center={filters.center} onClose={() => setForm(null)} /> : null}
      {opened ? <EntryDialog entry={opened.entry} isCancelling={opened.isCancelling} onClose={() => setOpened(null)} /> : null}
    </Page>
  )
}
